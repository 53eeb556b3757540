import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startFaultServer } from '../support/http/fault-server.ts'
import { getPrograms, listPrograms, oneLineOf, openSampleRunner } from './sample-programs.ts'

const KEY = 'key_that_no_argument_has'

const samples = openSampleRunner()
let server: Awaited<ReturnType<typeof startFaultServer>>
/** The arguments with the key, of all processes, during each request. */
let seen: string[][]
beforeAll(async () => {
  server = await startFaultServer('http://127.0.0.1', () => {
    seen.push(argumentsWithKey())
    return { status: 403 }
  })
})
afterAll(async () => {
  await server.close()
  samples.close()
})
beforeEach(() => {
  server.forget()
  seen = []
})

/** As every user of the machine sees them. */
function argumentsWithKey(): string[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return ids.map(commandLine).filter((line) => line.includes(KEY))
}

function commandLine(id: string): string {
  try {
    return readFileSync(join('/proc', id, 'cmdline'), 'utf8')
  } catch {
    return '' // It has ended.
  }
}

const run = (sample: (typeof listPrograms)[number]) =>
  samples.run(sample, ['ord_1'], { baseUrl: server.baseUrl, key: KEY })
const authorizations = () => server.requests.map(({ headers }) => headers.authorization)

it.each([...listPrograms, ...getPrograms])(
  'the program in $label sends the key, which is none of its arguments',
  async (sample) => {
    await run(sample)
    expect(authorizations()).toEqual([`Bearer ${KEY}`])
    expect(seen).toEqual([[]])
  },
)

it('the guide keeps the key out of the arguments of a curl command', async () => {
  const guide = readFileSync(
    new URL('../../openapi/guide/02-autenticacao.md', import.meta.url),
    'utf8',
  )
  const [, option = '', file = ''] = /`(-H @(\S+))`/.exec(guide) ?? []
  writeFileSync(join(samples.folder, file), `Authorization: Bearer ${KEY}\n`)
  const sample = oneLineOf('/v1/orders')
  await run(sample)
  const source = sample.source.replace(/-H "Authorization: [^"]*"/, option)
  await run({ ...sample, source })
  expect(authorizations()).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`])
  expect(seen).toEqual([[expect.stringContaining('curl')], []])
})
