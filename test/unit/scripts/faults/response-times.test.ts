import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { followResponseTimes } from '../../../../scripts/faults/response-times.ts'

let folder: string
let log: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'response-times-'))
  log = join(folder, 'service.log')
})
afterEach(() => rmSync(folder, { recursive: true }))

const line = (ms: number) => `{"level":30,"msg":"request","duration_ms":${ms},"status":200}\n`

it('the longest response time covers only the log lines since the last read', async () => {
  writeFileSync(log, line(9_000))
  const times = await followResponseTimes(log)
  appendFileSync(log, `${line(12.5)}${line(2_480.125)}{"msg":"unavailable"}\n${line(3)}`)
  expect(await times.longestMs()).toBe(2_480.125)
  appendFileSync(log, line(7))
  expect(await times.longestMs()).toBe(7)
  expect(await times.longestMs()).toBe(0)
})

it('an incomplete log line counts once it is complete', async () => {
  writeFileSync(log, '')
  const times = await followResponseTimes(log)
  appendFileSync(log, line(1_234).slice(0, 45))
  expect(await times.longestMs()).toBe(0)
  appendFileSync(log, line(1_234).slice(45))
  expect(await times.longestMs()).toBe(1_234)
})
