import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../support/stores/test-folder.ts'

const LOG = new URL('../../../src/observability/log.ts', import.meta.url).href

/** Logs three lines, then ends. */
const program = (open: 'openLog' | 'openRequestLog') => `
  import { setTimeout as sleep } from 'node:timers/promises'
  import { ${open} } from '${LOG}'
  const logger = ${open}({ logLevel: 'info' }, process.stderr)
  for (const line of [1, 2, 3]) {
    logger.info({ line }, 'a line')
    await sleep(120) // More than the interval between two batches.
  }
  process.stdout.write('still running')
  process.exit(0)`

/** Runs the program with a stderr on a full disk. */
async function runOnFullDisk(source: string) {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', full],
    timeout: 45_000,
    killSignal: 'SIGKILL',
  })
  closeSync(full)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const [stdout, code] = await Promise.all([text(child.stdout as Readable), exited])
  return { stdout, code }
}

/** Ends before its first batch is written, or while the write of one is in flight. */
const exit = (firstLength: number) => `
  import { openRequestLog } from '${LOG}'
  const logger = openRequestLog({ logLevel: 'info' }, process.stderr)
  logger.info('x'.repeat(${firstLength}))
  logger.info('a line')
  process.exit(0)`

/** Fills the buffer while the disk is full, then logs two lines in a file in its place. */
const refilled = (open: 'openLog' | 'openRequestLog', file: string) => `
  import { closeSync, openSync } from 'node:fs'
  import { setTimeout as sleep } from 'node:timers/promises'
  import { ${open} } from '${LOG}'
  const logger = ${open}({ logLevel: 'info' }, process.stderr)
  const log = (msg, length) => logger.info({ long: 'x'.repeat(length) }, msg)
  for (const length of [2 ** 20, 2 ** 16, 2 ** 12, 2 ** 8, 0]) {
    for (let count = 0; count < 17; count += 1) log('a line', length)
  }
  await sleep(120)
  closeSync(2)
  openSync('${file}', 'w')
  for (const msg of ['may be dropped', 'the last']) {
    log(msg, 2 ** 8)
    await sleep(120)
  }
  process.exit(0)`

describe('the log', () => {
  it.each(['openLog', 'openRequestLog'] as const)(
    'of %s continues once there is space, also after its buffer was full',
    async (open) => {
      const folder = createTestFolder()
      const file = join(folder, 'log')
      expect(await runOnFullDisk(refilled(open, file))).toMatchObject({ code: 0 })
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'a line' })
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ msg: 'the last' })
    },
  )

  it.each([
    ['its first write meets', 0],
    ['a write in flight is the first that meets', 2 ** 12],
  ])('does not block an exit at which %s a full disk', async (_write, firstLength) => {
    expect(await runOnFullDisk(exit(firstLength))).toEqual({ stdout: '', code: 0 })
  })

  it.each(['openLog', 'openRequestLog'] as const)(
    'of %s neither ends the process nor blocks its exit when stderr is on a full disk',
    async (open) => {
      expect(await runOnFullDisk(program(open))).toEqual({ stdout: 'still running', code: 0 })
    },
  )
})
