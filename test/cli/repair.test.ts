import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../support/cli/command.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend } from '../support/stores/backend.ts'
import { corruptDocument, dropDocument } from '../support/stores/damage-document.ts'

let backend: Backend
let file: string
beforeEach(() => {
  backend = createBackend()
  file = join(backend.folder, 'orders.ndjson')
})
afterEach(() => backend.remove())

const run = (...args: string[]) => runCommand(['index', ...args], backend.env)
const orders = Array.from({ length: 10 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
const save = (source: readonly object[]) =>
  writeFileSync(file, source.map((order) => `${JSON.stringify(order)}\n`).join(''))
const counts = async (...args: string[]) =>
  JSON.parse((await run('load', file, '--json', ...args)).stdout)

describe('index load --repair', () => {
  it('restores every lost document, and a second run finds every version older', async () => {
    save(orders)
    await run('load', file)
    for (const { id } of orders) await dropDocument(backend, 'acc_1', id)
    expect(await counts('--history')).toMatchObject({ written: 0, older: 10 })

    const check = await run('check', file)
    expect(check.code).toBe(1)
    expect(check.stdout).toContain('missing: 10')
    expect(check.stderr).toContain('"index load --repair FILE"')

    expect(await counts('--repair')).toMatchObject({ written: 10, older: 0 })
    expect(await run('check', file)).toMatchObject({ code: 0, stderr: '' })
    expect(await counts('--repair')).toMatchObject({ written: 0, older: 10 })
  })

  it('replaces an invalid document, where a load without --repair rejects the order and continues', async () => {
    save(orders)
    await run('load', file)
    await corruptDocument(backend, 'acc_1', 'ord_3')
    save(orders.map((order) => ({ ...order, version: 2, amount_total: 5 })))
    const { code, stdout, stderr } = await run('load', file, '--live', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ written: 9, refused: 1 })
    expect(stderr).toMatch(
      /^line 4: the document of account acc_1 in the index cannot be parsed as an order.*ord_3/,
    )

    expect(await counts('--repair')).toMatchObject({ written: 1, older: 9, refused: 0 })
    expect(await run('check', file)).toMatchObject({ code: 0 })
  })
})
