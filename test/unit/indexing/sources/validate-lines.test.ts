import { describe, expect, it } from 'vitest'
import { validateLines } from '../../../../src/indexing/sources/validate-lines.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'

const line = (n: number) => JSON.stringify(sourceOrder({ id: `ord_${n}` }))

async function checked(text: string | Buffer, fromLine = 1) {
  const errors: [number, string, string][] = []
  const progress: number[] = []
  async function* input() {
    yield Buffer.from(text)
  }
  const summary = await validateLines(input(), {
    fromLine,
    onRejected: (number, { path, reason }) => errors.push([number, path, reason]),
    onProgress: ({ read }) => progress.push(read),
  })
  return { summary, errors, progress }
}

describe('validateLines', () => {
  it('validateLines counts valid lines and reports those that a load would reject', async () => {
    const { summary, errors } = await checked(
      `${line(1)}\n\n{"id\n${line(2)}\n${JSON.stringify(sourceOrder({ amount_total: -1 }))}\n`,
    )
    expect(summary).toEqual({ read: 4, valid: 2, refused: 2, customer_documents_dropped: 0 })
    expect(errors).toEqual([
      [3, '', expect.stringContaining('not JSON')],
      [5, '/amount_total', expect.stringContaining('expected an integer')],
    ])
  })

  it('validateLines counts customers’ documents that a load would drop', async () => {
    const customer = { name: 'Rita', email: 'r@exemplo.com.br', document: '123' }
    const { summary } = await checked(JSON.stringify(sourceOrder({ customer })))
    expect(summary).toMatchObject({ valid: 1, customer_documents_dropped: 1 })
  })

  it('validateLines accepts a repeated version, since it reads no index', async () => {
    expect((await checked(`${line(1)}\n${line(1)}`)).summary.valid).toBe(2)
  })

  it('validateLines starts at the given line', async () => {
    const { summary, errors } = await checked(`[]\n[]\n${line(1)}\n`, 2)
    expect(summary).toMatchObject({ read: 2, valid: 1, refused: 1 })
    expect(errors.map(([number]) => number)).toEqual([2])
  })

  it('validateLines reports its progress periodically', async () => {
    const lines = Array.from({ length: 1_200 }, (_, n) => line(n))
    expect((await checked(lines.join('\n'))).progress).toEqual([500, 1_000])
  })
})
