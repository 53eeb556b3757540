import cluster from 'node:cluster'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createWorkerPool,
  type WorkerPool,
} from '../../../../../src/cli/serve/workers/worker-pool.ts'
import { silent } from '../../../../support/stores/services.ts'

let folder: string
let pool: WorkerPool
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'worker-pool-'))
  const exec = join(folder, 'worker.mjs')
  writeFileSync(
    exec,
    `process.send({ type: 'serving', address: 'http://127.0.0.1:1' }); setInterval(() => {}, 1_000)`,
  )
  cluster.setupPrimary({ exec, args: [], execArgv: [] })
})
afterAll(() => {
  pool.kill()
  rmSync(folder, { recursive: true })
})

it('a worker that the system cannot start for a while is replaced afterwards', async () => {
  let failures = 0
  pool = createWorkerPool({
    size: 1,
    fork() {
      if (failures > 0) {
        failures -= 1
        throw new Error('spawn ENOMEM')
      }
      return cluster.fork()
    },
    logger: silent,
    onExit() {},
  })
  await pool.start()
  const [first] = pool.serving()
  failures = 2
  first?.kill()
  await expect.poll(() => pool.serving().map(({ id }) => id)).toEqual([(first?.id ?? 0) + 1])
})
