// Whether a connection wants TaskStatusUpdates now: it subscribed, or a message of its own is under way. Knows no socket.
import type { UpdateStream } from '../a2a/websocket-operations.js';
import type { Frame } from '../protocol/frames.js';
import { readPayload } from '../protocol/make-frames.js';
import type { TaskState } from '../session/session.js';

interface Stage {
  begun: boolean;
  rested: boolean;
  told: boolean;
}

const restingStates: readonly TaskState[] = [
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
];

export class Updates {
  readonly #streams = new Set<Stage>();
  /** For the life of the connection, or until Unsubscribe. */
  subscribed = false;

  /** `wait`: an update that comes now belongs behind an Accepted that is not yet sent. */
  get wanted(): 'yes' | 'no' | 'wait' {
    const stages = [...this.#streams];
    if (this.subscribed || stages.some((stage) => stage.begun)) return 'yes';
    return stages.length > 0 ? 'wait' : 'no';
  }

  /** `changed` is called whenever more may be wanted than before. */
  stream(changed: () => void): UpdateStream {
    const stage: Stage = { begun: false, rested: false, told: false };
    this.#streams.add(stage);
    const abandon = () => {
      this.#streams.delete(stage);
      changed();
    };
    return {
      begin: () => {
        stage.begun = true;
        changed();
      },
      rest: () => {
        stage.rested = true;
        this.#end(stage);
      },
      abandon,
    };
  }

  /** This update was sent. A stream is over when its task rests and the newest update has said so, whichever comes first. */
  sent(frame: Frame): void {
    if (this.#streams.size === 0) return;
    const resting = isResting(frame);
    for (const stage of this.#streams) {
      stage.told = stage.begun && resting;
      this.#end(stage);
    }
  }

  #end(stage: Stage): void {
    if (stage.rested && stage.told) this.#streams.delete(stage);
  }
}

function isResting(frame: Frame): boolean {
  const payload = readPayload(frame);
  return payload.kind === 'TaskStatusUpdate' && restingStates.some((state) => state === payload.task.status.state);
}
