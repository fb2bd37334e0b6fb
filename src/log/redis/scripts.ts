// What Redis does in one step, as Lua. Knows what a session's keys hold, and nothing of who asks.
//
// The mark of a session is `<owner>:<n>`: the writer that may write, and how many steps it has taken. A batch is taken only where its
// writer has left the mark, and moves it on: so a writer that was fenced is refused, a batch that comes twice or too early is refused, and
// the mark tells afterwards what was taken.
import { Script } from '../../redis/client.js';
import { FIRST_EPOCH } from '../log.js';

/** How far the numbers jump when some that were given may have been lost: more than were ever given and not yet kept by a replica. */
export const LOSS_JUMP = 2 ** 20;

/** Bytes of bodies that are announced together with the news of them. Larger ones follow by themselves: each joining copies them twice. */
const JOINED_BYTES = 4096;

/** Which server this is, and in which of its lives; another one may lack what was taken last. */
const runId = `
local function run_id()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and info:match('run_id:(%x+)') or '?'
end`;

/** Numbers that were given are lost: go on far above them, and keep nothing from before (I2). */
const jump = `
local function jump(above)
  local current = math.max(tonumber(redis.call('HGET', meta, 'current')), above) + ${LOSS_JUMP}
  local kept = redis.call('HKEYS', meta)
  for _, field in ipairs(kept) do
    if field:sub(1, 5) == 'kind:' then redis.call('HDEL', meta, field) end
  end
  redis.call('DEL', log, times)
  redis.call('HSET', meta, 'current', current, 'oldest', current + 1, 'count', 0)
end`;

/**
 * Begins a session.
 * Keys: meta, gone. Arguments: owner, frames, seconds, milliseconds that it is kept, record, the number after which it begins.
 * Answer: 1, also to the same owner again; 0 if the session exists.
 */
export const create = new Script(`${runId}
local meta, owner = KEYS[1], ARGV[1]
local mark = redis.call('HGET', meta, 'mark')
if mark then return mark == owner .. ':0' and 1 or 0 end
redis.call('HSET', meta, 'mark', owner .. ':0', 'epoch', ${FIRST_EPOCH}, 'current', ARGV[6], 'oldest', ARGV[6] + 1, 'count', 0,
  'frames', ARGV[2], 'seconds', ARGV[3], 'record', ARGV[5], 'held', 1, 'run', run_id())
redis.call('PEXPIRE', meta, ARGV[4])
redis.call('DEL', KEYS[2])
return 1`);

/**
 * Takes a session over.
 * Keys: meta, log, times. Arguments: owner, the epoch that was seen or nothing, milliseconds that it is kept beyond its retention, its record
 * from now on or nothing, the highest number that whoever claims it was told of, 1 if Redis loses nothing that it took or else nothing.
 * Answer: {'claimed', epoch, current, oldest, frames, seconds, record}, also to the same owner again; {'unknown'}; {'other', epoch}.
 *
 * A session that was not let go, on a server other than the one of its last step, may lack what was taken last, and does lack it where others
 * were told of more: its numbers jump.
 */
export const claim = new Script(`${runId}
local meta, log, times = KEYS[1], KEYS[2], KEYS[3]
${jump}
local owner, seen, told, durable = ARGV[1], ARGV[2], tonumber(ARGV[5]), ARGV[6] == '1'
local mark, epoch, run, held, seconds, had = unpack(redis.call('HMGET', meta, 'mark', 'epoch', 'run', 'held', 'seconds', 'current'))
if not mark then return { 'unknown' } end
if mark ~= owner .. ':0' then
  if seen ~= '' and seen ~= epoch then return { 'other', tonumber(epoch) } end
  epoch = epoch + 1
  local here = run_id()
  redis.call('HSET', meta, 'mark', owner .. ':0', 'epoch', epoch, 'left', mark, 'leftAt', had)
  if tonumber(had) < told or held == '1' and run ~= here and not durable then jump(told) end
  if ARGV[4] ~= '' then redis.call('HSET', meta, 'record', ARGV[4]) end
  redis.call('HSET', meta, 'held', 1, 'run', here)
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, seconds * 1000 + ARGV[3]) end
local current, oldest, frames, record = unpack(redis.call('HMGET', meta, 'current', 'oldest', 'frames', 'record'))
return { 'claimed', tonumber(epoch), tonumber(current), tonumber(oldest), frames, seconds, record }`);

/**
 * Takes one batch: numbers, stores, trims and announces it.
 * Keys: meta, log, times. Arguments: the mark that must be there, the mark to leave, now in ms, channel or nothing, milliseconds that the
 * keys are kept from now on or nothing, record or nothing, news (see news.ts), then the bodies of its entries.
 * Answer: {1, the lowest number kept after each of its calls …}, or {0}: another mark was there, and nothing was done.
 */
export const append = new Script(`
local meta, log, times = KEYS[1], KEYS[2], KEYS[3]
local before, after, now, channel, keep, record = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local mark, current, oldest, count, frames, seconds =
  unpack(redis.call('HMGET', meta, 'mark', 'current', 'oldest', 'count', 'frames', 'seconds'))
if mark ~= before then return { 0 } end
current, oldest, count, frames = tonumber(current), tonumber(oldest), tonumber(count), tonumber(frames)

local news = cjson.decode(ARGV[7])
local stamps, changes = {}, {}
for i, entry in ipairs(news.entries) do
  local sequence, kind, id, ts = entry[1], entry[2], entry[3], entry[4]
  redis.call('XADD', log, string.format('%.0f-0', sequence), 'kind', kind, 'id', id, 'ts', ts, 'body', ARGV[7 + i])
  stamps[#stamps + 1] = sequence
  stamps[#stamps + 1] = ts
  changes['kind:' .. kind] = sequence
end
for i = 1, #stamps, 1000 do
  redis.call('RPUSH', times, unpack(stamps, i, math.min(i + 999, #stamps)))
end

-- The lowest entry goes while it is neither among the newest nor young (pty-ws 8), as it would after each call alone.
local young, gone, ahead, at = now - seconds * 1000, 0, {}, 1
local function lowest()
  if at > #ahead then
    ahead, at = redis.call('LRANGE', times, 2 * gone, 2 * gone + 127), 1
  end
  return tonumber(ahead[at]), tonumber(ahead[at + 1])
end
local answer = { 1 }
for _, call in ipairs(news.calls) do
  current = current + call[1]
  count = count + call[2]
  local went = gone
  while count > frames do
    local sequence, ts = lowest()
    if not sequence or ts > young then break end
    gone, at, count = gone + 1, at + 2, count - 1
  end
  if gone > went then oldest = math.min(lowest() or current + 1, current + 1) end
  answer[#answer + 1] = oldest
end
if gone > 0 then
  redis.call('LTRIM', times, 2 * gone, -1)
  redis.call('XTRIM', log, 'MINID', '=', string.format('%.0f', oldest))
end

if record ~= '' then changes.record = record end
local set = { 'mark', after, 'current', current, 'oldest', oldest, 'count', count }
for field, value in pairs(changes) do
  set[#set + 1] = field
  set[#set + 1] = value
end
redis.call('HSET', meta, unpack(set))
if keep ~= '' then
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, keep) end
end

if channel ~= '' and redis.call('PUBSUB', 'SHARDNUMSUB', channel)[2] > 0 then
  local head, bytes = ARGV[7] .. '\\n' .. table.concat(answer, ',', 2) .. '\\n', 0
  for i = 8, #ARGV do bytes = bytes + #ARGV[i] end
  if bytes <= ${JOINED_BYTES} then
    redis.call('SPUBLISH', channel, head .. table.concat(ARGV, '', 8))
  else
    redis.call('SPUBLISH', channel, head)
    for i = 8, #ARGV do redis.call('SPUBLISH', channel .. ':bodies', ARGV[i]) end
  end
end
return answer`);

/**
 * Tells a writer where its session stands, after it lost the thread; no step that it sent before is taken from now on.
 * Keys: meta, log, times, gone. Arguments: owner, its epoch, its next step, the number above which it can write again what was lost, the
 * highest number that it ever gave, frames, seconds, milliseconds that the session is kept, record.
 * Answer: {'ours', steps taken, current, oldest}; {'unknown'}: it was removed; {'fenced', mark and current of the session when it was taken
 * from someone}; {'jumped', steps taken, current, oldest} where its own claim was lost, or more entries than it can write again.
 *
 * A session that is not there and was not removed is lost: it begins anew, with what its writer has of it.
 */
export const resume = new Script(`${runId}
local meta, log, times, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
${jump}
local owner, epoch, step, again, highest = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local mark, held_by, current, left, left_at = unpack(redis.call('HMGET', meta, 'mark', 'epoch', 'current', 'left', 'leftAt'))
if not mark then
  if redis.call('EXISTS', gone) == 1 then return { 'unknown' } end
  redis.call('DEL', log, times)
  redis.call('HSET', meta, 'current', 0, 'oldest', 1, 'count', 0, 'frames', ARGV[6], 'seconds', ARGV[7], 'record', ARGV[9])
  redis.call('PEXPIRE', meta, ARGV[8])
  mark, held_by, current = owner .. ':0', 0, 0
end
local steps = mark:sub(1, #owner + 1) == owner .. ':' and mark:sub(#owner + 2)
if not steps and tonumber(held_by) >= epoch then return { 'fenced', left or '', tonumber(left_at or 0) } end
redis.call('HSET', meta, 'mark', owner .. ':' .. step, 'epoch', epoch, 'held', 1, 'run', run_id())
local whole = steps and tonumber(current) >= again
if not whole then jump(highest) end
local now, oldest = unpack(redis.call('HMGET', meta, 'current', 'oldest'))
return { whole and 'ours' or 'jumped', tonumber(steps or -1), tonumber(now), tonumber(oldest) }`);

/**
 * Lets go of a session, all of which was taken.
 * Keys: meta, log, times. Arguments: owner, milliseconds that it is kept from now on. Answer: 1, or 0 if it is another's.
 */
export const release = new Script(`
local meta, owner = KEYS[1], ARGV[1]
local mark, current = unpack(redis.call('HMGET', meta, 'mark', 'current'))
if not mark or mark:sub(1, #owner + 1) ~= owner .. ':' then return 0 end
redis.call('HSET', meta, 'mark', '-:0', 'held', 0, 'left', mark, 'leftAt', current)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[2]) end
return 1`);

/**
 * Lets go of all entries of a session, unless there is one with a number above the one that is given; new ones are numbered as before.
 * Keys: meta, log, times. Arguments: that number. Answer: 1, or 0 if nothing was done.
 */
export const shed = new Script(`
local meta, log, times, up_to = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1])
local newest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
if newest and tonumber(newest[1]:match('^%d+')) > up_to then return 0 end
local oldest = tonumber(redis.call('HGET', meta, 'oldest'))
if not oldest then return 0 end
redis.call('DEL', log, times)
redis.call('HSET', meta, 'count', 0, 'oldest', string.format('%.0f', math.max(oldest, up_to + 1)))
return 1`);

/** Forgets a session. Keys: meta, log, times, gone. Arguments: milliseconds for which it is known to have been removed. */
export const remove = new Script(`
redis.call('SET', KEYS[4], '1', 'PX', ARGV[1])
return redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])`);
