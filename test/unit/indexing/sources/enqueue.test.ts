import { beforeEach, describe, expect, it } from 'vitest'
import { type EnqueueSummary, enqueue } from '../../../../src/indexing/sources/enqueue.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'

const MIB = 1024 * 1024
const TOO_LARGE = { path: '', reason: 'too large' }
const line = (id: string) => JSON.stringify(sourceOrder({ id }))

let appended: Buffer[][]
/** The backlogs that the stream reports, in sequence; 0 afterwards. */
let backlogs: (number | Error)[]
let failures: Error[]
/** The stream rejects longer orders. */
let maxBytes: number
let log: string[]
let stopping: AbortController
beforeEach(() => {
  appended = []
  backlogs = []
  failures = []
  maxBytes = Number.POSITIVE_INFINITY
  log = []
  stopping = new AbortController()
})

function enqueueText(input: string | Buffer, fromLine?: number): Promise<EnqueueSummary> {
  async function* chunks() {
    yield Buffer.from(input)
  }
  return enqueue(chunks(), {
    stream: {
      async append(orders) {
        const failure = failures.shift()
        if (failure !== undefined) throw failure
        appended.push(orders.filter(({ length }) => length <= maxBytes))
        return new Map(
          orders.flatMap(({ length }, at) => (length <= maxBytes ? [] : [[at, TOO_LARGE]])),
        )
      },
      async backlog() {
        const backlog = backlogs.shift() ?? 0
        if (backlog instanceof Error) throw backlog
        return backlog
      },
    },
    ...(fromLine !== undefined && { fromLine }),
    onRejected: (number, { path, reason }) => log.push(`line ${number} ${path}: ${reason}`),
    onProgress: ({ read }, number) => log.push(`${read} read, up to line ${number}`),
    onDelay: (reason) => log.push(`delay: ${reason}`),
    signal: stopping.signal,
  })
}

describe('the enqueue of lines', () => {
  it('the enqueue appends the exact bytes of each line', async () => {
    const text = `\uFEFF${line('ord_1')}\r\n  ${line('ord_2')} \n\n${line('ord_3')}`
    expect(await enqueueText(text)).toEqual({ read: 3, handed_over: 3, refused: 0 })
    expect(appended.flat().map(String)).toEqual([
      `\uFEFF${line('ord_1')}\r`,
      `  ${line('ord_2')} `,
      line('ord_3'),
    ])
  })

  it('the enqueue reports a line that the stream rejects, and continues', async () => {
    maxBytes = 1_000
    const large = JSON.stringify({ ...sourceOrder({ id: 'ord_2' }), extra: 'x'.repeat(1_000) })
    const text = `${line('ord_1')}\n{"half\n${large}\n${line('ord_3')}`
    expect(await enqueueText(text)).toEqual({ read: 4, handed_over: 2, refused: 2 })
    expect(log).toEqual([
      'line 2 : expected one JSON object on one line; this is not JSON',
      'line 3 : too large',
      '4 read, up to line 4',
    ])
    expect(appended.flat().map(String)).toEqual([line('ord_1'), line('ord_3')])
  })

  it('the enqueue reports a rejected line with its number, field and reason, and continues', async () => {
    const bad = JSON.stringify(sourceOrder({ amount_total: 1.5 }))
    const text = `${line('ord_1')}\n\n${bad}\n{"half\n${line('ord_2')}`
    expect(await enqueueText(text)).toEqual({ read: 4, handed_over: 2, refused: 2 })
    expect(log).toEqual([
      'line 3 /amount_total: expected an integer from 0 to 2^53 − 1, got 1.5',
      'line 4 : expected one JSON object on one line; this is not JSON',
      '4 read, up to line 5',
    ])
    expect(appended.flat().map(String)).toEqual([line('ord_1'), line('ord_2')])
  })

  it('the enqueue rejects a line that is too long', async () => {
    const { refused } = await enqueueText(`"${'x'.repeat(5 * MIB)}"\n${line('ord_1')}`)
    expect([refused, appended.flat()]).toEqual([1, [Buffer.from(line('ord_1'))]])
  })

  it('the enqueue starts at the given line', async () => {
    await enqueueText(`{"half\n${line('ord_1')}\n${line('ord_2')}`, 3)
    expect(appended.flat().map(String)).toEqual([line('ord_2')])
    expect(log).toEqual(['1 read, up to line 3'])
  })

  it('the enqueue appends at most 500 lines or 4 MiB at once', async () => {
    const large = (id: string) =>
      JSON.stringify(sourceOrder({ id, customer: { name: 'x'.repeat(2 * MIB), email: 'a@b.c' } }))
    const ids = Array.from({ length: 501 }, (_, n) => `ord_${n}`)
    await enqueueText([...ids.map(line), large('ord_a'), large('ord_b'), large('ord_c')].join('\n'))
    expect(appended.map(({ length }) => length)).toEqual([500, 3, 1])
  })

  it('the enqueue of an empty input appends nothing', async () => {
    expect(await enqueueText('\n\n')).toEqual({ read: 0, handed_over: 0, refused: 0 })
    expect(appended).toEqual([])
  })
})

describe('a full stream', () => {
  it('the enqueue waits for a full stream and reports it once', async () => {
    backlogs = [100_000, 120_000, 99_999]
    await enqueueText(line('ord_1'))
    expect(log).toEqual([
      expect.stringMatching(/^delay: 100000 changes wait in the stream/),
      '1 read, up to line 1',
    ])
  })

  it('the enqueue stops waiting for a full stream on abort', async () => {
    backlogs = Array.from({ length: 1_000 }, () => 100_000)
    const enqueueing = enqueueText(line('ord_1'))
    stopping.abort()
    await expect(enqueueing).rejects.toThrow('interrupted')
    expect(appended).toEqual([])
  })
})

describe('an unavailable stream', () => {
  it('the enqueue waits for an unavailable stream and reports it once', async () => {
    backlogs = [new Unavailable('no response')]
    failures = [new Unavailable('no response'), new Unavailable('no response')]
    expect(await enqueueText(line('ord_1'))).toEqual({ read: 1, handed_over: 1, refused: 0 })
    expect(log.filter((text) => text === 'delay: no response; retrying')).toHaveLength(2)
  })

  it('the enqueue ends on any other error of the stream', async () => {
    failures = [new Error('no permission')]
    await expect(enqueueText(line('ord_1'))).rejects.toThrow('no permission')
  })
})
