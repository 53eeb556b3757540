import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRandom } from '../../../../src/demo/random.ts'
import { runCommand, startCommand } from '../../../support/cli/command.ts'
import { createHistory } from '../../../support/simulation/change-history.ts'
import { type Backend, createBackend, KILL_LOOP_LEASE } from '../../../support/stores/backend.ts'
import { readStored } from '../../../support/stores/stored-orders.ts'

const KILLS = 6
const CHANGES = 12_000
const LONGEST_LIFE_MS = 2_500
const ACCOUNTS = ['acc_north', 'acc_south', 'acc_west']

let backend: Backend
beforeAll(() => {
  backend = createBackend()
})
afterAll(() => backend.remove())

/** Several batches are in flight: reading, writing documents, writing version records. */
it(`a load of ${CHANGES} changes that is killed and restarted ${KILLS} times writes every order`, async () => {
  const random = createRandom(1, 8, 0)
  const history = createHistory(5, ACCOUNTS)
  const file = join(backend.folder, 'orders.ndjson')
  const lines = Array.from({ length: CHANGES }, () => JSON.stringify(history.next()))
  await writeFile(file, lines.join('\n'))
  const load = ['index', 'load', file, '--live']

  for (let kill = 0; kill < KILLS; kill++) {
    const child = startCommand(load, { ...backend.env, ...KILL_LOOP_LEASE })
    const ended = once(child, 'close')
    await pause(random.between(300, LONGEST_LIFE_MS))
    child.kill('SIGKILL')
    await ended
  }
  expect(await runCommand(load, backend.env)).toMatchObject({ code: 0 })
  expect(await readStored(`${backend.env['INDEX_PREFIX']}`)).toEqual(history.truth())
})
