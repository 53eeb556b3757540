import type { Worker } from 'node:cluster'
import type { Answers, Question, ToPrimary, ToWorker } from './messages.ts'

/** How a worker ended; `reason` is what it said of it. */
export interface End {
  code: number | null
  signal: string | null
  reason?: string
}

/** A worker, as the primary has it. */
export interface Member {
  id: number
  pid: number | undefined
  isServing(): boolean
  /** `undefined` when it has not answered in time, or is gone. */
  ask<Q extends Question>(question: Q, withinMs: number): Promise<Answers[Q] | undefined>
  /** Tells it to go as soon as nobody needs it. */
  leave(): void
  kill(): void
  readonly ended: Promise<End>
}

/** `onServing` is told the URL. */
export function createMember(worker: Worker, onServing: (address: string) => void): Member {
  const asked = new Map<number, (answer: Answers[Question] | undefined) => void>()
  let questions = 0
  let isServing = false
  let isLeaving = false
  let reason: string | undefined

  function send(message: ToWorker): void {
    // A worker may be gone at any time, and that is told by its end.
    if (worker.isConnected()) worker.send(message, () => {})
  }

  worker.on('message', (message: ToPrimary) => {
    if (message.type === 'answer') asked.get(message.id)?.(message.answer)
    if (message.type === 'failed') reason = message.reason
    if (message.type !== 'serving') return
    isServing = true
    onServing(message.address)
    if (isLeaving) send({ type: 'leave' }) // What it is told before it has begun, it may miss.
  })

  const ended = new Promise<End>((resolve) => {
    function end(how: End): void {
      isServing = false
      for (const answer of asked.values()) answer(undefined)
      resolve(reason === undefined ? how : { ...how, reason })
    }
    worker.once('exit', (code, signal) => end({ code, signal }))
    worker.on('error', ({ message }) => {
      if (worker.process.pid === undefined) end({ code: null, signal: null, reason: message })
    })
  })

  return {
    id: worker.id,
    pid: worker.process.pid,
    isServing: () => isServing,

    async ask<Q extends Question>(question: Q, withinMs: number) {
      questions += 1
      const id = questions
      let timer: NodeJS.Timeout | undefined
      const answer = await new Promise<Answers[Question] | undefined>((resolve) => {
        asked.set(id, resolve)
        timer = setTimeout(resolve, withinMs, undefined)
        send({ type: 'ask', id, question })
      })
      clearTimeout(timer)
      asked.delete(id)
      return answer as Answers[Q] | undefined
    },

    leave() {
      isLeaving = true
      send({ type: 'leave' })
    },

    kill: () => worker.process.kill('SIGKILL'),
    ended,
  }
}
