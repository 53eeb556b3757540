import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFaultServer } from '../support/http/fault-server.ts'
import { type Elsewhere, startElsewhere } from './elsewhere.ts'
import { getPrograms, listPrograms, openSampleRunner, type Sample } from './sample-programs.ts'

const samples = openSampleRunner()
let elsewhere: Elsewhere
let server: Awaited<ReturnType<typeof startFaultServer>>
beforeAll(async () => {
  elsewhere = await startElsewhere()
  server = await startFaultServer('http://127.0.0.1')
})
afterAll(async () => {
  await Promise.all([server.close(), elsewhere.close()])
  samples.close()
})
beforeEach(() => elsewhere.forget())

const run = (sample: Sample) =>
  samples.run(sample, ['ord_1'], { baseUrl: server.baseUrl, key: 'key_of_the_account' })

/** A network portal's, with a status of success. */
const PORTAL = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Entre</html>' }
const EMPTY = { code: expect.any(Number), stdout: '' }

describe.each([
  { does: 'lists', programs: listPrograms },
  { does: 'gets one', programs: getPrograms },
])('the samples whose program $does', ({ programs }) => {
  it.each(programs)('the sample in $label sends no key to a redirect target', async (sample) => {
    server.plan(elsewhere.redirect)
    const { code, stdout } = await run(sample)
    expect({ code, stdout }).toEqual(EMPTY)
    expect(code).toBeGreaterThan(0)
    expect(elsewhere.authorizations().filter((sent) => sent !== undefined)).toEqual([])
  })

  it.each(programs)('the sample in $label prints no page of another server', async (sample) => {
    server.plan(PORTAL)
    const { code, stdout } = await run(sample)
    expect({ code, stdout }).toEqual(EMPTY)
    expect(code).toBeGreaterThan(0)
  })

  const inBash = programs.filter(({ label }) => label === 'bash com curl')
  it.each([
    { title: 'a redirect', response: () => elsewhere.redirect },
    { title: 'a page of a network portal', response: () => PORTAL },
  ])('the sample in bash says to check the address at $title', async ({ response }) => {
    for (const sample of inBash) {
      server.plan(response())
      expect(await run(sample)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('Confira ORDERS_API_URL'),
      })
    }
  })
})
