// What one connection, and one session's tail on a replica, may hold (I5). Knows nothing else.

/** Bytes of bodies that the tail of a session keeps for its cursors. */
export const TAIL_BYTES = 8 * 1024 * 1024;
/** Frames that the tail of a session keeps. */
export const TAIL_FRAMES = 4096;

/** Bytes that wait for one socket; above it nothing more is sent until the socket has drained. */
export const HIGH_WATER_BYTES = 1024 * 1024;
/** Frames for one connection alone that wait for their turn. A member that has more is sent away. */
export const MAX_DELIVERIES = 256;
/** Frames, and bytes of bodies past the first, of one piece that a replay reads from the log. */
export const REPLAY_PIECE = { frames: 256, bytes: 512 * 1024 } as const;

/** Requests of one connection, from their receipt until the socket has taken the answer. */
export const MAX_REQUESTS_IN_FLIGHT = 1024;
/** Bytes of these requests. */
export const MAX_BYTES_IN_FLIGHT = 8 * 1024 * 1024;
/** Part of these two above which nothing more is read, and for how many milliseconds at most; what then comes beyond them is refused. */
export const CROWDED_PART = 0.5;
export const CROWDED_MS = 10_000;
/** Refusals in a row, and how many a second are forgotten; one more, and the connection is sent away. */
export const REFUSAL_PATIENCE = 100;
export const REFUSALS_FORGOTTEN_PER_SECOND = 20;

/** Frames a second that one connection may send in the long run. */
export const FRAMES_PER_SECOND = 2_000;
/** Frames that it may send at once after a pause. */
export const FRAME_BURST = 10_000;
/** The same in bytes of its socket, whatever they are: 1 MiB that is pasted passes without a pause. */
export const BYTES_PER_SECOND = 2 * 1024 * 1024;
export const BYTE_BURST = 8 * 1024 * 1024;
/** Milliseconds of one pause at least. */
export const SHORTEST_PAUSE_MS = 10;
/** Milliseconds for which one may send too many frames, held back all the while, before it is sent away; and those of a pause that ends them. */
export const FLOOD_MS = 30_000;
export const CALM_MS = 1_000;
/** Milliseconds for which one is held back before the log tells of it. */
export const HELD_LONG_MS = 5_000;

/** Milliseconds for the answers of requests in flight when the session has ended, and for the last frames after a leave. */
export const LAST_WORDS_MS = 2_000;
/** Milliseconds that a peer has to answer a close frame before its socket is destroyed. */
export const CLOSING_MS = 5_000;
/** Numbers of private frames that a tail knows for whom they were given, the newest of them. */
export const KNOWN_PLACES = 1024;
/** Milliseconds for which a private frame of a session elsewhere is waited for when its number is known already. */
export const DELIVERY_PATIENCE_MS = 3000;
/** Milliseconds for which one who is connected and has not joined may still do so when the session has ended. */
export const LATE_JOIN_MS = 2_000;
/** Frames, and bytes of bodies, of the past from which a screen of the past is put together, at most. */
export const LOOK_BACK_FRAMES = 1024;
export const LOOK_BACK_BYTES = 4 * 1024 * 1024;
