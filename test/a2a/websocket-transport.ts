// A transport for A2A's own client library over pty-ws/v1, made of the gateway's client: one connection for each task. Knows no assertion.
import {
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageConfiguration,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { Transport, TransportFactory } from '@a2a-js/sdk/client';
import { A2AError, RequestMalformedError, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { connect, type Fault, type Payload, type TerminalClient } from '../../src/client/node.js';
import { BINDING_URI } from '../../src/protocol/names.js';

/** A method of the library's transport: what it is given first. */
type Asked<Method extends keyof Transport> = Transport[Method] extends (asked: infer Params, ...more: never[]) => unknown ? Params : never;

const errors: Readonly<Record<string, new (options: { message: string; cause: unknown }) => A2AError>> = {
  TASK_NOT_FOUND: TaskNotFoundError,
  TASK_NOT_CANCELABLE: TaskNotCancelableError,
  UNSUPPORTED_OPERATION: UnsupportedOperationError,
  INVALID_REQUEST: RequestMalformedError,
};

/** The library's error for a Fault. */
function translated(fault: Fault): A2AError {
  return new (errors[fault.code] ?? A2AError)({ message: fault.message, cause: fault });
}

export class WebSocketTransport implements Transport {
  readonly protocolName = BINDING_URI;
  readonly protocolVersion = '1.0';
  readonly #template: string;
  readonly #token: string;
  readonly #attached = new Map<string, Promise<TerminalClient>>();

  /** `template` is the url of the card's interface, with `{session_id}` in it. */
  constructor(template: string, token: string) {
    this.#template = template;
    this.#token = token;
  }

  async getExtendedAgentCard(): Promise<AgentCard> {
    return AgentCard.fromJSON(await this.#fetch(this.#address.replace(/sessions$/, 'extendedAgentCard')));
  }

  async sendMessage({ message, configuration }: Asked<'sendMessage'>): Promise<Task> {
    const taskId = message?.taskId || (await this.#begin());
    const payload = {
      message: Message.toJSON(message as Message),
      ...(configuration && { configuration: SendMessageConfiguration.toJSON(configuration) }),
    };
    return Task.fromJSON((await this.#ask(taskId, 'SendMessage', payload)).task);
  }

  /** As over HTTP: the task, then what changes of it until it rests. */
  async *sendMessageStream({ message }: Asked<'sendMessageStream'>): AsyncGenerator<StreamResponse, void, undefined> {
    const taskId = message?.taskId || (await this.#begin());
    const client = await this.#client(taskId);
    yield* follow(client, () => client.tasks.stream(Message.toJSON(message as Message) as never), isResting);
  }

  async *resubscribeTask({ id }: Asked<'resubscribeTask'>): AsyncGenerator<StreamResponse, void, undefined> {
    const client = await this.#client(id);
    yield* follow(client, () => client.tasks.subscribe(), hasEnded);
  }

  async getTask({ id, historyLength }: Asked<'getTask'>): Promise<Task> {
    const length = historyLength === undefined ? {} : { history_length: historyLength };
    return Task.fromJSON((await this.#ask(id, 'GetTask', { task_id: id, ...length })).task);
  }

  async cancelTask({ id }: Asked<'cancelTask'>): Promise<Task> {
    return Task.fromJSON((await this.#ask(id, 'CancelTask', { task_id: id })).task);
  }

  /** One connection sees one session, and so one task: this asks each that is open. */
  async listTasks(asked: Asked<'listTasks'>): Promise<ListTasksResponse> {
    const filter = ListTasksRequest.toJSON(asked);
    const answers = await Promise.all([...this.#attached.keys()].map((taskId) => this.#ask(taskId, 'ListTasks', { filter })));
    return ListTasksResponse.fromJSON({ tasks: answers.flatMap(({ tasks }) => tasks) });
  }

  async createTaskPushNotificationConfig(config: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    const answer = await this.#ask(config.taskId, 'CreateTaskPushNotificationConfig', {
      task_id: config.taskId,
      config: TaskPushNotificationConfig.toJSON(config),
    });
    return TaskPushNotificationConfig.fromJSON(answer.config);
  }

  async getTaskPushNotificationConfig({ taskId, id }: Asked<'getTaskPushNotificationConfig'>): Promise<TaskPushNotificationConfig> {
    return TaskPushNotificationConfig.fromJSON((await this.#ask(taskId, 'GetTaskPushNotificationConfig', { task_id: taskId, id })).config);
  }

  async listTaskPushNotificationConfig({
    taskId,
  }: Asked<'listTaskPushNotificationConfig'>): Promise<ListTaskPushNotificationConfigsResponse> {
    return ListTaskPushNotificationConfigsResponse.fromJSON(
      await this.#ask(taskId, 'ListTaskPushNotificationConfigs', { task_id: taskId }),
    );
  }

  async deleteTaskPushNotificationConfig({ taskId, id }: Asked<'deleteTaskPushNotificationConfig'>): Promise<void> {
    await this.#ask(taskId, 'DeleteTaskPushNotificationConfig', { task_id: taskId, id });
  }

  /** Leaves every session. */
  async close(): Promise<void> {
    for (const client of await Promise.allSettled(this.#attached.values())) if (client.status === 'fulfilled') client.value.close();
  }

  async #ask(taskId: string, op: string, payload: Payload): Promise<Payload> {
    const client = await this.#client(taskId);
    return client.request(op, payload).catch((fault: Fault) => Promise.reject(translated(fault)));
  }

  #client(taskId: string): Promise<TerminalClient> {
    const known = this.#attached.get(taskId);
    if (known) return known;
    const url = this.#template.replace('{session_id}', encodeURIComponent(taskId));
    const client = connect({ url, token: this.#token, role: 'controller', reconnect: false });
    const live = joined(client);
    this.#attached.set(taskId, live);
    void client.ended.then(() => this.#attached.delete(taskId));
    return live;
  }

  /** A session of the agent, whose task nobody has told anything yet. */
  async #begin(): Promise<string> {
    return (await this.#fetch(this.#address, { method: 'POST' })).session_id as string;
  }

  /** Where sessions of the agent are begun. */
  get #address(): string {
    return this.#template.replace(/^ws/, 'http').replace(/\/\{session_id\}.*$/, '');
  }

  async #fetch(url: string, init: RequestInit = {}): Promise<Payload> {
    const response = await fetch(url, { ...init, headers: { authorization: `Bearer ${this.#token}` } });
    return (await response.json()) as Payload;
  }
}

/** Offers the WebSocket to the library's ClientFactory, as the card does. */
export class WebSocketTransportFactory implements TransportFactory {
  readonly protocolName = BINDING_URI;
  readonly made: WebSocketTransport[] = [];
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async create(url: string): Promise<WebSocketTransport> {
    const transport = new WebSocketTransport(url, this.#token);
    this.made.push(transport);
    return transport;
  }
}

const ended = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'];
const hasEnded = (state: string) => ended.includes(state);
const isResting = (state: string) => state === 'TASK_STATE_INPUT_REQUIRED' || hasEnded(state);

function joined(client: TerminalClient): Promise<TerminalClient> {
  return new Promise((resolve, reject) => {
    client.on('state', (state) => {
      if (state.name === 'live') resolve(client);
      if (state.name === 'ended') reject(new (state.reason === 'gone' ? TaskNotFoundError : A2AError)({ message: state.message }));
    });
  });
}

/** The task as it is when `begin` was accepted, then each change until one after which `isLast` says that no more will come. */
async function* follow(client: TerminalClient, begin: () => Promise<unknown>, isLast: (state: string) => boolean) {
  const updates: StreamResponse[] = [];
  let [over, wake] = [false, () => {}];
  const stop = client.on('task', ({ task, delta }) => {
    updates.push(StreamResponse.fromJSON('artifact' in delta ? { artifactUpdate: delta } : { statusUpdate: delta }));
    over ||= !('artifact' in delta) && isLast(task.status.state);
    wake();
  });
  try {
    await begin().catch((fault: Fault) => Promise.reject(translated(fault)));
    yield StreamResponse.fromJSON({ task: await client.tasks.get() });
    while (!over || updates.length > 0) {
      const next = updates.shift();
      if (next) yield next;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stop();
  }
}
