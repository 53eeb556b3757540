import type { Worker } from 'node:cluster'
import type { IpcRequest, IpcResponses, ToPrimary, ToWorker } from './ipc-messages.ts'

/** How a worker ended; `reason` is what it said of it. */
export interface WorkerExit {
  code: number | null
  signal: string | null
  reason?: string
}

/** A worker, as the primary has it. */
export interface WorkerHandle {
  id: number
  pid: number | undefined
  isServing(): boolean
  /** `undefined` when it has not answered in time, or is gone. */
  request<Q extends IpcRequest>(question: Q, withinMs: number): Promise<IpcResponses[Q] | undefined>
  /** Tells it to go as soon as nobody needs it. */
  shutDown(): void
  kill(): void
  readonly exited: Promise<WorkerExit>
}

/** `onServing` is told the URL. */
export function createWorkerHandle(
  worker: Worker,
  onServing: (address: string) => void,
): WorkerHandle {
  const pending = new Map<number, (answer: IpcResponses[IpcRequest] | undefined) => void>()
  let lastRequestId = 0
  let isServing = false
  let isShuttingDown = false
  let reason: string | undefined

  function send(message: ToWorker): void {
    // A worker may be gone at any time, and that is told by its end.
    if (worker.isConnected()) worker.send(message, () => {})
  }

  worker.on('message', (message: ToPrimary) => {
    if (message.type === 'answer') pending.get(message.id)?.(message.response)
    if (message.type === 'failed') reason = message.reason
    if (message.type !== 'serving') return
    isServing = true
    onServing(message.address)
    if (isShuttingDown) send({ type: 'leave' }) // What it is told before it has begun, it may miss.
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

    async request<Q extends IpcRequest>(question: Q, withinMs: number) {
      lastRequestId += 1
      const id = lastRequestId
      let timer: NodeJS.Timeout | undefined
      const response = await new Promise<IpcResponses[IpcRequest] | undefined>((resolve) => {
        pending.set(id, resolve)
        timer = setTimeout(resolve, withinMs, undefined)
        send({ type: 'ask', id, question })
      })
      clearTimeout(timer)
      pending.delete(id)
      return response as IpcResponses[Q] | undefined
    },

    shutDown() {
      isShuttingDown = true
      send({ type: 'leave' })
    },

    kill: () => worker.process.kill('SIGKILL'),
    exited,
  }
}
