import type { Random } from '../../../../../src/demo/random.ts'
import type { Clock } from '../../../../../src/lib/clock.ts'
import type {
  OutgoingRequest,
  Sender,
  SendResult,
} from '../../../../../src/webhooks/sending/sender.ts'

/** A request in flight. */
export interface Flight {
  request: OutgoingRequest
  /** The dispatcher that sent it. */
  processId: number
  /** When it was sent, epoch milliseconds. */
  at: number
}

/** Receivers on a simulated network, with responses at random. */
export interface Receivers {
  /** The sender of one dispatcher. */
  senderOf(processId: number): Pick<Sender, 'send'>
  /** Responds to what is due. Call it after the clock advanced. */
  respond(): void
  /** Loses the requests of a dispatcher that died. */
  drop(processId: number): void
  /** From now on, every request is accepted at once. */
  heal(): void
  /** When the next response is due, epoch milliseconds; infinite without one. */
  nextDueAt(): number
}

export interface ReceiversOptions {
  random: Random
  clock: Clock
  /** Called before a request is in flight. */
  onRequest(flight: Flight): void
  /** Called with each response, before its dispatcher receives it. */
  onResponse(flight: Flight, result: SendResult): void
}

interface Waiting extends Flight {
  dueAt: number
  resolve(): void
}

/** How the receiver of a URL responds for a while. */
type Mood = 'healthy' | 'flaky' | 'down' | 'slow'

const accepted: SendResult = {
  status: 200,
  error: null,
  retryAfterMs: null,
  durationMs: 5,
  excerpt: 'accepted',
}
const rejected = (status: number | null, retryAfterMs: number | null = null): SendResult => ({
  ...accepted,
  status,
  error: status === null ? 'no response in time' : `the receiver returned ${status}`,
  retryAfterMs,
  excerpt: 'rejected',
})

/** Creates receivers for every URL. */
export function createReceivers(options: ReceiversOptions): Receivers {
  const { random, clock, onRequest, onResponse } = options
  const moods = new Map<string, { mood: Mood; until: number }>()
  let waiting: Waiting[] = []
  let isHealed = false

  function moodOf(url: string): Mood {
    if (isHealed) return 'healthy'
    const known = moods.get(url)
    if (known && clock() < known.until) return known.mood
    const mood = random.pick(['healthy', 'healthy', 'flaky', 'down', 'slow'] as const)
    moods.set(url, { mood, until: clock() + random.pick([1_000, 60_000, 900_000, 8_000_000]) })
    return mood
  }

  function responseOf(mood: Mood): SendResult {
    if (mood === 'healthy' || mood === 'slow') return accepted
    if (mood === 'flaky' && random.chance(0.5)) return accepted
    if (random.chance(0.01)) return rejected(410)
    return random.pick([rejected(500), rejected(429, 30_000), rejected(503), rejected(null)])
  }

  return {
    senderOf: (processId) => ({
      async send(request) {
        const flight: Flight = { request, processId, at: clock() }
        onRequest(flight)
        const mood = moodOf(request.url)
        if (mood === 'slow' || (mood !== 'healthy' && random.chance(0.2))) {
          const { promise, resolve } = Promise.withResolvers<void>()
          waiting.push({ ...flight, dueAt: clock() + random.pick([1, 1_500, 15_000]), resolve })
          await promise
        }
        const result = responseOf(moodOf(request.url))
        onResponse(flight, result)
        return result
      },
    }),
    respond() {
      const due = waiting.filter(({ dueAt }) => isHealed || dueAt <= clock())
      waiting = waiting.filter((flight) => !due.includes(flight))
      for (const { resolve } of due) resolve()
    },
    drop(processId) {
      const lost = waiting.filter((flight) => flight.processId === processId)
      waiting = waiting.filter((flight) => !lost.includes(flight))
      for (const { resolve } of lost) resolve()
    },
    heal() {
      isHealed = true
    },
    nextDueAt: () => Math.min(...waiting.map(({ dueAt }) => dueAt)),
  }
}
