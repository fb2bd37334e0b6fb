// What members of a session are told of each other beside its frames: an extension of this gateway's own (docs/protocol.md). Knows no session.
import { type Static, Type } from '@sinclair/typebox';

const ClientId = Type.String();

/** Payload of `op: "presence.state"`: how things are now; what is absent is not so. Not numbered, not kept, not replayed. */
export const PresenceState = Type.Object(
  {
    asking: Type.Array(ClientId, { description: 'Observers who ask for control, the first to ask first.' }),
    lent_by: Type.Optional(Type.Array(ClientId, { description: 'Those who gave control to one who asked, and may take it back.' })),
    typing: Type.Optional(Type.String({ description: 'Who types at this moment; told of each at most once a second, and not to them.' })),
    message_from: Type.Optional(
      Type.String({
        description: 'Principal (`sub`) whose message is typed at this moment without a connection of theirs; at most once a second.',
      }),
    ),
  },
  { $id: 'PresenceState', description: 'Who asks for control, who has lent it, and who types (presence §2).' },
);
export type PresenceState = Static<typeof PresenceState>;
