import { describe, expect, it, vi } from 'vitest'
import type { ValidationError } from '../../../../src/indexing/projection/change.ts'
import { load } from '../../../../src/indexing/sources/load.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { createMemoryOrderIndex } from '../writer/memory-order-index.ts'

const MIB = 1024 * 1024
const NOTHING = {
  read: 0,
  written: 0,
  unchanged: 0,
  older: 0,
  refused: 0,
  customer_documents_dropped: 0,
}
const line = (n: number, version = 1) => JSON.stringify(sourceOrder({ id: `ord_${n}`, version }))

const loaded = (...chunks: (string | Buffer)[]) => loadedFrom(1, ...chunks)

async function loadedFrom(fromLine: number, ...chunks: (string | Buffer)[]) {
  const index = createMemoryOrderIndex()
  const errors: [number, ValidationError][] = []
  const bulkSizes: number[] = []
  let read = 0
  async function* input() {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  const summary = await load(input(), {
    writer: createWriter(index, () => Date.parse('2026-04-01T00:00:00Z')),
    mode: 'back-fill',
    fromLine,
    onRefused: (number, refusal) => errors.push([number, refusal]),
    onProgress: (progress) => {
      bulkSizes.push(progress.read - read)
      read = progress.read
    },
  })
  return { index, summary, errors, bulkSizes }
}

describe('load', () => {
  it('of nothing writes nothing', async () => {
    const { summary, bulkSizes } = await loaded()
    expect([summary, bulkSizes]).toEqual([NOTHING, []])
  })

  it('writes one order a line', async () => {
    const { summary, index } = await loaded(`${line(1)}\n${line(2)}\n`)
    expect(summary).toEqual({ ...NOTHING, read: 2, written: 2 })
    expect(index.keys()).toEqual(['acc_1:ord_1', 'acc_1:ord_2'])
  })

  it.each([
    ['lines that end in CRLF', `${line(1)}\r\n${line(2)}\r\n`],
    ['a last line without a line break', `${line(1)}\n${line(2)}`],
    ['a byte order mark', `\uFEFF${line(1)}\n${line(2)}\n`],
    ['spaces around a line', `  ${line(1)}\t\n ${line(2)} \n`],
    ['blank lines', `\n\r\n${line(1)}\n   \n\n${line(2)}\n\n`],
  ])('reads %s', async (_name, text) => {
    expect((await loaded(text)).summary).toEqual({ ...NOTHING, read: 2, written: 2 })
  })

  it('tells a refused line by its number, blank lines counted, and goes on', async () => {
    const { summary, errors } = await loaded(`${line(1)}\n\n{"id":1\n${line(2)}\n`)
    expect(errors).toEqual([[3, { path: '', reason: expect.stringContaining('not JSON') }]])
    expect(summary).toEqual({ ...NOTHING, read: 3, written: 2, refused: 1 })
  })

  it('tells several refused lines in their order', async () => {
    const { errors } = await loaded(`[]\n${line(1)}\nnull\n5\n`)
    expect(errors.map(([number]) => number)).toEqual([1, 3, 4])
  })

  it('refuses a line that is not UTF-8', async () => {
    const latin1 = Buffer.from(line(1).replace('Rita', 'R\u00edta'), 'latin1')
    const { errors } = await loaded(latin1, `\n${line(2)}\n`)
    expect(errors).toEqual([[1, { path: '', reason: 'not valid UTF-8' }]])
  })

  it('refuses a line of more than 4 MiB and goes on', async () => {
    const long = Buffer.alloc(4 * MIB + 1, 'x')
    const { summary, errors } = await loaded(long, `\n${line(1)}\n`)
    expect(errors).toEqual([[1, { path: '', reason: `longer than ${4 * MIB} bytes` }]])
    expect(summary).toEqual({ ...NOTHING, read: 2, written: 1, refused: 1 })
  })

  it('takes a line of just 4 MiB', async () => {
    const name = 'x'.repeat(4 * MIB - JSON.stringify(withName('')).length)
    const { summary } = await loaded(JSON.stringify(withName(name)), '\n')
    expect(summary).toEqual({ ...NOTHING, read: 1, written: 1 })
  })

  it('counts versions that are not newer, and what changed nothing', async () => {
    const { summary } = await loaded(`${line(1, 2)}\n${line(1, 2)}\n${line(1, 1)}\n${line(1, 3)}\n`)
    expect(summary).toEqual({ ...NOTHING, read: 4, written: 1, older: 2, unchanged: 1 })
  })

  it('writes the last of several versions of an order', async () => {
    const versions = [1, 2, 3].map((version) =>
      JSON.stringify(sourceOrder({ version, amount_total: version })),
    )
    const { summary, index } = await loaded(versions.join('\n'))
    expect(summary.written).toBe(3)
    expect(index.order('acc_1', 'ord_1')?.amount_total).toBe(3)
  })

  it('counts documents that were dropped', async () => {
    const customer = { name: 'Rita', email: 'r@exemplo.com.br', document: '123' }
    const { summary } = await loaded(`${JSON.stringify(sourceOrder({ customer }))}\n${line(2)}\n`)
    expect(summary).toEqual({ ...NOTHING, read: 2, written: 2, customer_documents_dropped: 1 })
  })

  it('writes at most 1,000 lines in a bulk', async () => {
    const text = Array.from({ length: 2001 }, (_, n) => line(n)).join('\n')
    expect((await loaded(text)).bulkSizes).toEqual([1000, 1000, 1])
  })

  it('closes a bulk that has reached 4 MiB', async () => {
    const lines = Array.from({ length: 5 }, (_, n) =>
      JSON.stringify({ ...withName('x'.repeat(1.5 * MIB)), id: `ord_${n}` }),
    )
    expect((await loaded(lines.join('\n'))).bulkSizes).toEqual([3, 2])
  })
})

describe('load from a line', () => {
  it('passes over what is before it, blank lines counted', async () => {
    const { summary, index } = await loadedFrom(3, `${line(1)}\n\n${line(2)}\n${line(3)}\n`)
    expect(summary).toEqual({ ...NOTHING, read: 2, written: 2 })
    expect(index.keys()).toEqual(['acc_1:ord_2', 'acc_1:ord_3'])
  })

  it('does not look at what is before it', async () => {
    const { errors, summary } = await loadedFrom(4, `[]\n{"id\n`, Buffer.of(0xff), `\n${line(1)}`)
    expect([errors, summary]).toEqual([[], { ...NOTHING, read: 1, written: 1 }])
  })

  it('tells refused lines by their number in the whole input', async () => {
    const { errors } = await loadedFrom(2, `[]\n${line(1)}\n[]\n`)
    expect(errors.map(([number]) => number)).toEqual([3])
  })

  it('after the last has nothing to do', async () => {
    expect((await loadedFrom(3, `${line(1)}\n${line(2)}\n`)).summary).toEqual(NOTHING)
  })
})

describe('load that does not come to its end', () => {
  const lines = Array.from({ length: 2_500 }, (_, n) => `${line(n)}\n`)
  const quiet = { mode: 'back-fill' as const, onRefused() {} }

  async function* input(end?: Error) {
    for (const text of lines) yield Buffer.from(text)
    if (end) throw end
  }

  it('tells the last line that is in, and can go on behind it', async () => {
    const index = createMemoryOrderIndex()
    const writer = createWriter(index, Date.now)
    let bulks = 0
    const failing = {
      write: (...of: Parameters<typeof writer.write>) => {
        bulks++
        if (bulks === 3) throw new Error('disk full')
        return writer.write(...of)
      },
    }
    const reached: number[] = []
    const onProgress = (_: object, lineNumber: number) => reached.push(lineNumber)
    const stopped = load(input(), { ...quiet, writer: failing, onProgress })
    await expect(stopped).rejects.toThrow('disk full')
    expect(reached).toEqual([1_000, 2_000])
    expect(index.keys()).toHaveLength(2_000)

    const rest = await load(input(), { ...quiet, writer, fromLine: 2_001, onProgress })
    expect(rest).toMatchObject({ read: 500, written: 500, older: 0 })
    expect(index.keys()).toHaveLength(2_500)
  })

  it('writes the whole batches that came before the input failed', async () => {
    const index = createMemoryOrderIndex()
    const onProgress = vi.fn()
    const failed = load(input(new Error('unplugged')), {
      ...quiet,
      writer: createWriter(index, Date.now),
      onProgress,
    })
    await expect(failed).rejects.toThrow('unplugged')
    expect(onProgress.mock.lastCall?.[1]).toBe(2_000)
    expect(index.keys()).toHaveLength(2_000)
  })

  it('does not wait for input that is yet to come', async () => {
    async function* slow() {
      for (const text of lines.slice(0, 1_500)) yield Buffer.from(text)
      await new Promise(() => {})
    }
    const writer = { write: () => Promise.reject(new Error('disk full')) }
    const stopped = load(slow(), { ...quiet, writer, onProgress() {} })
    await expect(stopped).rejects.toThrow('disk full')
  })
})

function withName(name: string) {
  return sourceOrder({ customer: { name, email: 'rita@exemplo.com.br' } })
}
