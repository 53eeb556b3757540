import { describe, expect, it, vi } from 'vitest'
import type { ValidationError } from '../../../../src/indexing/projection/change.ts'
import { load } from '../../../../src/indexing/sources/load.ts'
import type { WriteResult } from '../../../../src/indexing/writer/decide.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { createMemoryOrderIndex } from '../../../support/stores/memory-order-index.ts'

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
    mode: 'history',
    fromLine,
    onRejected: (number, error) => errors.push([number, error]),
    onProgress: (progress) => {
      bulkSizes.push(progress.read - read)
      read = progress.read
    },
  })
  return { index, summary, errors, bulkSizes }
}

describe('the load of lines', () => {
  it('the load of an empty input writes nothing', async () => {
    const { summary, bulkSizes } = await loaded()
    expect([summary, bulkSizes]).toEqual([NOTHING, []])
  })

  it('the load writes one order per line', async () => {
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
  ])('the load reads %s', async (_name, text) => {
    expect((await loaded(text)).summary).toEqual({ ...NOTHING, read: 2, written: 2 })
  })

  it('the load reports a rejected line by its number, including blank lines, and continues', async () => {
    const { summary, errors } = await loaded(`${line(1)}\n\n{"id":1\n${line(2)}\n`)
    expect(errors).toEqual([[3, { path: '', reason: expect.stringContaining('not JSON') }]])
    expect(summary).toEqual({ ...NOTHING, read: 3, written: 2, refused: 1 })
  })

  it('the load reports several rejected lines in their sequence', async () => {
    const { errors } = await loaded(`[]\n${line(1)}\nnull\n5\n`)
    expect(errors.map(([number]) => number)).toEqual([1, 3, 4])
  })

  it('the load rejects a line that is not UTF-8', async () => {
    const latin1 = Buffer.from(line(1).replace('Rita', 'R\u00edta'), 'latin1')
    const { errors } = await loaded(latin1, `\n${line(2)}\n`)
    expect(errors).toEqual([[1, { path: '', reason: 'not valid UTF-8' }]])
  })

  it('the load rejects a line of more than 4 MiB and continues', async () => {
    const long = Buffer.alloc(4 * MIB + 1, 'x')
    const { summary, errors } = await loaded(long, `\n${line(1)}\n`)
    expect(errors).toEqual([[1, { path: '', reason: `longer than ${4 * MIB} bytes` }]])
    expect(summary).toEqual({ ...NOTHING, read: 2, written: 1, refused: 1 })
  })

  it('the load accepts a line of exactly 4 MiB', async () => {
    const name = 'x'.repeat(4 * MIB - JSON.stringify(withName('')).length)
    const { summary } = await loaded(JSON.stringify(withName(name)), '\n')
    expect(summary).toEqual({ ...NOTHING, read: 1, written: 1 })
  })

  it('the load counts older and unchanged versions', async () => {
    const { summary } = await loaded(`${line(1, 2)}\n${line(1, 2)}\n${line(1, 1)}\n${line(1, 3)}\n`)
    expect(summary).toEqual({ ...NOTHING, read: 4, written: 1, older: 2, unchanged: 1 })
  })

  it('the load writes the last of several versions of an order', async () => {
    const versions = [1, 2, 3].map((version) =>
      JSON.stringify(sourceOrder({ version, amount_total: version })),
    )
    const { summary, index } = await loaded(versions.join('\n'))
    expect(summary.written).toBe(3)
    expect(index.order('acc_1', 'ord_1')?.amount_total).toBe(3)
  })

  it('the load counts dropped customer documents', async () => {
    const customer = { name: 'Rita', email: 'r@exemplo.com.br', document: '123' }
    const { summary } = await loaded(`${JSON.stringify(sourceOrder({ customer }))}\n${line(2)}\n`)
    expect(summary).toEqual({ ...NOTHING, read: 2, written: 2, customer_documents_dropped: 1 })
  })

  it('the load writes at most 1,000 lines in a bulk', async () => {
    const text = Array.from({ length: 2001 }, (_, n) => line(n)).join('\n')
    expect((await loaded(text)).bulkSizes).toEqual([1000, 1000, 1])
  })

  it('the load closes a bulk that reached 4 MiB', async () => {
    const lines = Array.from({ length: 5 }, (_, n) =>
      JSON.stringify({ ...withName('x'.repeat(1.5 * MIB)), id: `ord_${n}` }),
    )
    expect((await loaded(lines.join('\n'))).bulkSizes).toEqual([3, 2])
  })
})

describe('the load from a given line', () => {
  it('the load skips earlier lines, including blank ones', async () => {
    const { summary, index } = await loadedFrom(3, `${line(1)}\n\n${line(2)}\n${line(3)}\n`)
    expect(summary).toEqual({ ...NOTHING, read: 2, written: 2 })
    expect(index.keys()).toEqual(['acc_1:ord_2', 'acc_1:ord_3'])
  })

  it('the load does not parse earlier lines', async () => {
    const { errors, summary } = await loadedFrom(4, `[]\n{"id\n`, Buffer.of(0xff), `\n${line(1)}`)
    expect([errors, summary]).toEqual([[], { ...NOTHING, read: 1, written: 1 }])
  })

  it('the load reports rejected lines by their number in the whole input', async () => {
    const { errors } = await loadedFrom(2, `[]\n${line(1)}\n[]\n`)
    expect(errors.map(([number]) => number)).toEqual([3])
  })

  it('the load from beyond the last line writes nothing', async () => {
    expect((await loadedFrom(3, `${line(1)}\n${line(2)}\n`)).summary).toEqual(NOTHING)
  })
})

describe('an interrupted load', () => {
  const lines = Array.from({ length: 2_500 }, (_, n) => `${line(n)}\n`)
  const quiet = { mode: 'history' as const, onRejected() {} }

  async function* input(end?: Error) {
    for (const text of lines) yield Buffer.from(text)
    if (end) throw end
  }

  it('the load reports the last written line, and a second load continues after it', async () => {
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

  it('the load starts no batch after one failed, also while an earlier one is written', async () => {
    const first = Promise.withResolvers<WriteResult[]>()
    const write = vi.fn(() => Promise.reject(new Error('disk full')))
    write.mockImplementationOnce(() => first.promise as never)
    async function* slow() {
      for (const text of lines.slice(0, 2_000)) yield Buffer.from(text)
      await expect.poll(() => write.mock.calls.length).toBe(2)
      for (const text of lines.slice(2_000)) yield Buffer.from(text)
      setImmediate(() => first.resolve(lines.slice(0, 1_000).map(() => 'written')))
    }
    const onProgress = vi.fn()
    const stopped = load(slow(), { ...quiet, writer: { write }, onProgress })
    await expect(stopped).rejects.toThrow('disk full')
    expect(write).toHaveBeenCalledTimes(2)
    expect(onProgress.mock.lastCall?.[1]).toBe(1_000)
  })

  it('the load writes the whole batches before a failure of the input', async () => {
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

  it('the load does not wait for further input after a failure', async () => {
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
