import { describe, expect, it } from 'vitest'
import { ConnectionError, EdgeError } from '../../../../src/client/client.ts'
import { createOrdersProgress } from '../../../../src/orders-cli/terminal/progress.ts'

const cut = new ConnectionError('A rede caiu.', { cause: null, isFinal: false })
const overloaded = new EdgeError('O balanceador respondeu 502.', {
  status: 502,
  requestId: null,
  retryAfterSeconds: null,
})

const limited = new EdgeError('São muitas requisições.', {
  status: 429,
  requestId: null,
  retryAfterSeconds: 1,
})

function start(before = 0) {
  const shown: string[] = []
  const printedLines: string[] = []
  let nowMs = 0
  const status = {
    show: (text: string) => shown.push(text),
    printLine: (text: string) => printedLines.push(text),
  }
  const progress = createOrdersProgress(status, () => nowMs, before)
  return {
    ...progress,
    shown,
    printedLines,
    pass(ms: number) {
      nowMs += ms
    },
  }
}

describe('the progress of an export', () => {
  it('shows the number of orders and the rate', () => {
    const { update, pass, shown } = start()
    pass(2_000)
    update(2_500)
    expect(shown).toEqual(['2.500 pedidos · 1.250/s'])
  })

  it('excludes orders of earlier processes from the rate', () => {
    const { update, pass, shown } = start(1_000)
    pass(1_000)
    update(1_100)
    expect(shown).toEqual(['1.100 pedidos · 100/s'])
  })
})

describe('a wait', () => {
  it('a wait is shown with its reason, in whole seconds', () => {
    const { wait, printedLines } = start()
    wait({ waitMs: 2_100, error: cut })
    expect(printedLines).toEqual(['esperando 3 s: A rede caiu.'])
  })

  it('a wait of less than a second is not shown', () => {
    const { wait, printedLines } = start()
    wait({ waitMs: 999, error: cut })
    expect(printedLines).toEqual([])
  })

  it('a wait is shown once per reason until orders arrive', () => {
    const { wait, update, printedLines } = start()
    for (const error of [cut, overloaded, cut, overloaded]) wait({ waitMs: 1_000, error })
    expect(printedLines).toHaveLength(2)
    update(100)
    wait({ waitMs: 1_000, error: cut })
    expect(printedLines.slice(2)).toEqual([
      'A API voltou a responder.',
      'esperando 1 s: A rede caiu.',
    ])
  })

  it('the end of a wait is shown once, when orders arrive', () => {
    const { wait, update, printedLines } = start()
    wait({ waitMs: 1_000, error: cut })
    update(100)
    update(200)
    expect(printedLines.slice(1)).toEqual(['A API voltou a responder.'])
  })

  it('the end of a wait is shown after an outage, and not after a rate limit', () => {
    const { wait, update, printedLines } = start()
    wait({ waitMs: 1_000, error: limited })
    update(100)
    expect(printedLines).toHaveLength(1)
  })
})
