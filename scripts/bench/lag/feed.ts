import { readCaFile } from '../../../src/config/ca-file.ts'
import type { Config } from '../../../src/config/config.ts'
import { connectStream } from '../../../src/stores/redis/stream-connection.ts'
import type { BenchChange } from './changes.ts'

/** Puts changes into the stream, as the platform does. */
export interface Feed {
  /** All at once; answers when each entered, by the clock of Redis, in epoch milliseconds. */
  add(changes: readonly BenchChange[]): Promise<number[]>
  /** What Redis's clock is ahead of `performance.now()`, and how far off that may be, in milliseconds. */
  readClock(): Promise<{ aheadMs: number; uncertainMs: number }>
  /** Removes the stream and what was parked of it. */
  close(): Promise<void>
}

const CLOCK_LOOKS = 20

export async function openFeed(config: Config): Promise<Feed> {
  const { commands, stream, deadLetterStream, close } = await connectStream({
    urls: config.redisUrls ?? [],
    ca: readCaFile('REDIS_CA_FILE', config.redisCaFile),
    prefix: config.redisPrefix,
  })

  /** The quicker the answer, the less is unknown of when it was given. */
  async function readClock() {
    let best = { aheadMs: Number.NaN, uncertainMs: Number.POSITIVE_INFINITY }
    for (let look = 0; look < CLOCK_LOOKS; look += 1) {
      const askedAt = performance.now()
      const [seconds = 0, micros = 0] = await commands.send((redis) => redis.time())
      const uncertainMs = (performance.now() - askedAt) / 2
      const redisMs = 1000 * Number(seconds) + Number(micros) / 1000
      const aheadMs = redisMs - askedAt - uncertainMs
      if (uncertainMs < best.uncertainMs) best = { aheadMs, uncertainMs }
    }
    return best
  }

  return {
    async add(changes) {
      const ids = await commands.send((redis) =>
        Promise.all(changes.map(({ json }) => redis.xadd(stream, '*', 'order', json))),
      )
      return ids.map((id) => Number(String(id).split('-')[0]))
    },

    readClock,

    async close() {
      try {
        for (const key of [stream, deadLetterStream]) await commands.send((redis) => redis.del(key))
      } finally {
        close()
      }
    },
  }
}
