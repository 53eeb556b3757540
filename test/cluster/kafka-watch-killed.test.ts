import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createRandom } from '../../src/demo/random.ts'
import { type RunningKafka, startKafka } from '../harness/services/kafka/kafka.ts'
import {
  FIRST_START_MS,
  type RunningOpenSearch,
  startOpenSearch,
} from '../harness/services/opensearch/opensearch.ts'
import { startWatch, type WatchProcess } from '../support/cli/watch-process.ts'
import { byEffort } from '../support/effort.ts'
import { createHistory } from '../support/simulation/change-history.ts'
import { type Backend, createBackend, KILL_LOOP_LEASE } from '../support/stores/backend.ts'
import { readStored } from '../support/stores/stored-orders.ts'
import { type KafkaFeed, openKafkaFeed } from '../support/streams/kafka-feed.ts'
import { killWriters } from '../support/streams/kill-writers.ts'

const KILLS = byEffort(4, 20)
const CHANGES_A_KILL = 1_000
const ACCOUNTS = Array.from({ length: 10 }, (_, n) => `acc_${n}`)

let openSearch: RunningOpenSearch
let kafka: RunningKafka
let backend: Backend
let feed: KafkaFeed
const watches: WatchProcess[] = []
beforeAll(async () => {
  openSearch = await startOpenSearch({ nodes: 1, heapMb: 512 })
  kafka = await startKafka()
  vi.stubEnv('OPENSEARCH_URL', openSearch.url)
  backend = createBackend()
  feed = await openKafkaFeed(kafka.plainBroker)
}, FIRST_START_MS)
afterAll(async () => {
  await Promise.all(watches.map((watch) => watch.stop('SIGKILL')))
  await feed.close()
  await backend.remove()
  vi.unstubAllEnvs()
  await Promise.all([openSearch.stop(), kafka.stop()])
})

function start(): WatchProcess {
  const watch = startWatch({ ...backend.env, ...feed.env, ...KILL_LOOP_LEASE })
  watches.push(watch)
  return watch
}

it(`a watch of Kafka that is killed ${KILLS} times leaves an exact index`, async () => {
  const history = createHistory(2, ACCOUNTS)
  const { writer, bad } = await killWriters({
    ...{ start, add: feed.add, history, random: createRandom(1, 6, 2) },
    ...{ kills: KILLS, changesPerKill: CHANGES_A_KILL },
  })
  await expect.poll(feed.backlog, { timeout: 240_000 }).toBe(0)
  expect(await writer.stop('SIGTERM')).toBe(0)

  await backend.refresh()
  expect(await readStored(`${backend.env['INDEX_PREFIX']}`)).toEqual(history.truth())
  // A kill between the dead letter and the commit of its offset repeats it.
  const letters = new Set((await feed.deadLetters()).map(({ entry_id }) => entry_id))
  expect(letters).toEqual(new Set(bad))
}, 480_000)
