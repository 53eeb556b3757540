import { spawnSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { WatchAtWork, type WriterPurpose } from '../../../../src/indexing/writing/order-index.ts'
import { holdWriterLock } from '../../../../src/stores/sqlite/writer-lock.ts'
import { temporaryFolder } from '../../../support/backend.ts'

let file: string
let remove: () => void
let told: string[]
beforeEach(() => {
  const temporary = temporaryFolder()
  file = join(temporary.folder, 'watch.lock')
  remove = temporary.remove
  told = []
})
afterEach(() => remove())

const hold = (purpose: WriterPurpose, signal?: AbortSignal) =>
  holdWriterLock(file, { purpose, onDelay: (reason) => told.push(reason), signal })

it.each<[WriterPurpose, WriterPurpose]>([
  ['watch', 'watch'],
  ['load', 'watch'],
  ['load', 'load'],
])('beside a %s, a %s waits and says what for', async (one, other) => {
  const first = await hold(one)
  let isHeld = false
  const second = hold(other).then((lock) => {
    isHeld = true
    return lock
  })
  await vi.waitFor(() => expect(told).toHaveLength(1))
  expect(isHeld).toBe(false)
  first.release()
  ;(await second).release()
  expect(told).toEqual([`waiting for another "index ${one}" on the same DATA_DIR to end`])
})

it('beside a watch, a load is refused', async () => {
  const watch = await hold('watch')
  await expect(hold('load')).rejects.toThrow(WatchAtWork)
  expect(told).toEqual([])
  watch.release()
  ;(await hold('load')).release()
})

it('a load that waits for a load is refused once a watch comes in between', async () => {
  const first = await hold('load')
  const watch = hold('watch')
  await vi.waitFor(() => expect(told).toHaveLength(1))
  first.release()
  const held = await watch
  await expect(hold('load')).rejects.toThrow(WatchAtWork)
  held.release()
})

it('opening the file once more in the same process leaves its lock to the holder', async () => {
  const first = await hold('load')
  const stopping = new AbortController()
  const second = hold('load', stopping.signal)
  await vi.waitFor(() => expect(told).toHaveLength(1))
  const elsewhere = `const { DatabaseSync } = require('node:sqlite'); new DatabaseSync(${JSON.stringify(file)}, { timeout: 0 }).exec('BEGIN IMMEDIATE')`
  const { status, stderr } = spawnSync(process.execPath, ['-e', elsewhere], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('locked') })
  stopping.abort()
  await expect(second).rejects.toThrow('interrupted')
  first.release()
})

it('says nothing when it need not wait', async () => {
  ;(await hold('watch')).release()
  ;(await hold('load')).release()
  expect(told).toEqual([])
})

it('waits no longer than it is told', async () => {
  const first = await hold('watch')
  const stopping = new AbortController()
  const second = hold('watch', stopping.signal)
  stopping.abort()
  await expect(second).rejects.toThrow('interrupted while another writer was at work')
  first.release()
  ;(await hold('watch')).release()
})

it('says when the file is something else', async () => {
  writeFileSync(file, 'no database'.repeat(100))
  await expect(hold('watch')).rejects.toThrow('file is not a database')
})

it('is of no interest to other users of the machine', async () => {
  const lock = await hold('watch')
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  lock.release()
})
