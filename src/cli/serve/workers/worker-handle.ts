import type { Worker } from 'node:cluster'
import type { IpcRequest, IpcResponses, ToPrimary, ToWorker } from './ipc-messages.ts'

/** The exit of a worker; `reason` is the error that it reported. */
export interface WorkerExit {
  code: number | null
  signal: string | null
  reason?: string
}

/** The primary's handle of one worker. */
export interface WorkerHandle {
  id: number
  pid: number | undefined
  isServing(): boolean
  /** `undefined` when the worker does not respond in time or has exited. */
  request<R extends IpcRequest>(request: R, timeoutMs: number): Promise<IpcResponses[R] | undefined>
  /** Starts a graceful shutdown. */
  shutDown(): void
  kill(): void
  readonly exited: Promise<WorkerExit>
}

/** `onServing` receives the URL of the worker. */
export function createWorkerHandle(
  worker: Worker,
  onServing: (address: string) => void,
): WorkerHandle {
  const pending = new Map<number, (response: IpcResponses[IpcRequest] | undefined) => void>()
  let lastRequestId = 0
  let isServing = false
  let isShuttingDown = false
  let reason: string | undefined

  function send(message: ToWorker): void {
    // A worker may exit at any time; its exit event handles that.
    if (worker.isConnected()) worker.send(message, () => {})
  }

  worker.on('message', (message: ToPrimary) => {
    if (message.type === 'response') pending.get(message.id)?.(message.response)
    if (message.type === 'failed') reason = message.reason
    if (message.type !== 'serving') return
    isServing = true
    onServing(message.address)
    if (isShuttingDown) send({ type: 'shutdown' }) // It may miss a message sent before.
  })

  const exited = new Promise<WorkerExit>((resolve) => {
    function settle(exit: WorkerExit): void {
      isServing = false
      for (const resolvePending of pending.values()) resolvePending(undefined)
      resolve(reason === undefined ? exit : { ...exit, reason })
    }
    worker.once('exit', (code, signal) => settle({ code, signal }))
    worker.on('error', ({ message }) => {
      if (worker.process.pid === undefined) settle({ code: null, signal: null, reason: message })
    })
  })

  return {
    id: worker.id,
    pid: worker.process.pid,
    isServing: () => isServing,

    async request<R extends IpcRequest>(request: R, timeoutMs: number) {
      lastRequestId += 1
      const id = lastRequestId
      let timer: NodeJS.Timeout | undefined
      const response = await new Promise<IpcResponses[IpcRequest] | undefined>((resolve) => {
        pending.set(id, resolve)
        timer = setTimeout(resolve, timeoutMs, undefined)
        send({ type: 'request', id, request })
      })
      clearTimeout(timer)
      pending.delete(id)
      return response as IpcResponses[R] | undefined
    },

    shutDown() {
      isShuttingDown = true
      send({ type: 'shutdown' })
    },

    kill: () => worker.process.kill('SIGKILL'),
    exited,
  }
}
