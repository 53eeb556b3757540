import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../support/cli/command.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend } from '../support/stores/backend.ts'
import { downgradeSchema } from '../support/stores/downgrade-schema.ts'

let backend: Backend
beforeEach(() => {
  backend = createBackend()
})
afterEach(() => backend.remove())

const load = (input: string, ...args: string[]) =>
  runCommand(['index', 'load', '-', '--json', ...args], backend.env, input)

const line = (id: string) => JSON.stringify(sourceOrder({ id }))

describe('index load --from-line', () => {
  it('continues a stopped load with the line numbers of the whole input', async () => {
    const input = `${line('ord_1')}\n\n${line('ord_2')}\nno order\n${line('ord_3')}\n`
    const { code, stdout, stderr } = await load(input, '--from-line', '3')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ read: 3, written: 2, refused: 1 })
    expect(stderr).toContain('line 4: expected one JSON object')
  })

  it.each([
    ['a load', []],
    ['a dry run', ['--dry-run']],
  ])('fails in %s after the end of the input', async (_name, flags) => {
    const input = `${line('ord_1')}\n\n${line('ord_2')}\n`
    const { code, stdout, stderr } = await load(input, '--from-line', '99999', ...flags)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('cannot start at line 99999: the number of lines is 3\n')
  })

  it('has nothing to do at the line after the last, where a load can stop', async () => {
    const { code, stdout } = await load(`${line('ord_1')}\n`, '--from-line', '2')
    expect([code, JSON.parse(stdout).read]).toEqual([0, 0])
  })

  it.each(['0', '-1', '1.5', '1e3', 'ten', '', '9007199254740993'])(
    'rejects %j with a usage error',
    async (text) => {
      const { code, stderr } = await load('', `--from-line=${text}`)
      expect(code).toBe(2)
      expect(stderr).toContain('Expected a line number: 1 or greater.')
    },
  )
})

describe('index load --dry-run', () => {
  it('validates every line without any setting, and writes nothing', async () => {
    const file = join(backend.folder, 'orders.ndjson')
    writeFileSync(file, `${line('ord_1')}\n[]\n${line('ord_1')}\n`)
    const nothing = { DATA_DIR: backend.folder, OPENSEARCH_URL: 'no address', KEY_PEPPER: 'short' }
    const args = ['index', 'load', file, '--dry-run', '--json']
    const { code, stdout, stderr } = await runCommand(args, nothing)
    expect(code).toBe(1)
    expect(stderr).toBe('line 2: expected an object, got a list\n')
    expect(JSON.parse(stdout)).toEqual({
      read: 3,
      valid: 2,
      refused: 1,
      customer_documents_dropped: 0,
      seconds: expect.any(Number),
    })
    expect(readdirSync(backend.folder)).toEqual(['orders.ndjson'])
  })

  it('exits 0 for valid lines and prints a summary', async () => {
    const args = ['index', 'load', '-', '--dry-run', '--from-line', '2']
    const { code, stdout, stderr } = await runCommand(args, {}, `[]\n${line('ord_1')}`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^read: 1, valid: 1, refused: 0, customer documents dropped: 0, seconds: [\d.]+\n$/,
    )
  })

  it('names a file that it cannot read', async () => {
    const args = ['index', 'load', 'nowhere.ndjson', '--dry-run']
    const { code, stderr } = await runCommand(args, {})
    expect(code).toBe(1)
    expect(stderr).toContain('nowhere.ndjson')
  })
})

describe('index load --reproject', () => {
  it('fills a field that was added to the schema later', async () => {
    const utm = { utm_source: 'radio' }
    const input = [sourceOrder({ id: 'ord_1', utm }), sourceOrder({ id: 'ord_2', utm })]
      .map((order) => JSON.stringify(order))
      .join('\n')
    await load(input)
    await downgradeSchema(backend, 'acc_1', 'ord_1', 'utm')
    const again = async (...args: string[]) => JSON.parse((await load(input, ...args)).stdout)
    const check = () => runCommand(['index', 'check', '-'], backend.env, input)
    expect(await again()).toMatchObject({ written: 0, older: 2 })
    const { stdout, stderr } = await check()
    expect(stdout).toContain(
      'the document of an older schema version does not show version 1: /utm',
    )
    expect(stderr).toContain('use "index load --live --reproject FILE"')
    expect(await again('--reproject')).toMatchObject({ written: 1, older: 1 })
    expect(await again('--reproject')).toMatchObject({ written: 0, older: 2 })
    expect(await check()).toMatchObject({ code: 0, stderr: '' })
  })
})
