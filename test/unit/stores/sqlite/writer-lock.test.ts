import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { holdWatchLock } from '../../../../src/stores/sqlite/watch-lock.ts'
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

const hold = (signal?: AbortSignal) =>
  holdWatchLock(file, { onDelay: (reason) => told.push(reason), signal })

it('lets one in at a time; the next one says what it waits for', async () => {
  const first = await hold()
  let isHeld = false
  const second = hold().then((lock) => {
    isHeld = true
    return lock
  })
  await vi.waitFor(() => expect(told).toHaveLength(1))
  expect(isHeld).toBe(false)
  first.release()
  ;(await second).release()
  expect(told).toEqual(['waiting for another "index watch" on the same DATA_DIR to end'])
})

it('says nothing when it need not wait', async () => {
  ;(await hold()).release()
  ;(await hold()).release()
  expect(told).toEqual([])
})

it('waits no longer than it is told', async () => {
  const first = await hold()
  const stopping = new AbortController()
  const second = hold(stopping.signal)
  stopping.abort()
  await expect(second).rejects.toThrow('interrupted while another writer was at work')
  first.release()
  ;(await hold()).release()
})

it('says when the file is something else', async () => {
  writeFileSync(file, 'no database'.repeat(100))
  await expect(hold()).rejects.toThrow('file is not a database')
})

it('is of no interest to other users of the machine', async () => {
  const lock = await hold()
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  lock.release()
})
