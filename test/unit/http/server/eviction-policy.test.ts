import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  selectToFreeMemory,
  selectToFreeSlots,
  type UnreadConnection,
} from '../../../../src/http/server/eviction-policy.ts'

interface Named extends UnreadConnection {
  name: string
}

const account = (id: string, bytes: number, name = `${id} ${bytes}`): Named => ({
  name,
  bytes,
  peer: { isAuthenticated: true, id },
})
const address = (id: string, bytes: number, name = `${id} ${bytes}`): Named => ({
  name,
  bytes,
  peer: { isAuthenticated: false, id },
})

const freeMemory = (connections: Named[], maxBytes: number) =>
  selectToFreeMemory(connections, maxBytes).map(({ name }) => name)

describe('the connections that unread answers close', () => {
  it('are none as long as all of it has room', () => {
    expect(freeMemory([account('acc_1', 60), address('10.0.0.1', 40)], 100)).toEqual([])
  })

  it('are those of clients without a key first, however small and however new', () => {
    const connections = [account('acc_1', 90), address('10.0.0.1', 5), address('10.0.0.1', 7)]
    expect(freeMemory(connections, 95)).toEqual(['10.0.0.1 7'])
    expect(freeMemory(connections, 90)).toEqual(['10.0.0.1 7', '10.0.0.1 5'])
    expect(freeMemory(connections, 89)).toEqual(['10.0.0.1 7', '10.0.0.1 5', 'acc_1 90'])
  })

  it('are those of the peer with the largest sum, its largest answer first', () => {
    const connections = [
      account('acc_1', 50),
      account('acc_2', 30),
      account('acc_2', 20),
      account('acc_2', 25),
    ]
    expect(freeMemory(connections, 124)).toEqual(['acc_2 30'])
    expect(freeMemory(connections, 94)).toEqual(['acc_2 30', 'acc_1 50'])
  })

  it('are those of an address that floods, before that of another one', () => {
    const flood = [1, 2, 3].map((n) => address('10.0.0.1', 10, `flood ${n}`))
    expect(freeMemory([address('10.0.0.2', 12), ...flood], 22)).toEqual(['flood 1', 'flood 2'])
  })

  it('are the earlier ones of equals', () => {
    expect(freeMemory([account('acc_1', 10, 'first'), account('acc_1', 10, 'second')], 19)).toEqual(
      ['first'],
    )
  })

  it('are none of which nothing waits', () => {
    expect(freeMemory([address('10.0.0.1', 0), account('acc_1', 10)], 5)).toEqual(['acc_1 10'])
  })

  it('are as many as it takes, and no account while a client without a key keeps anything', () => {
    const connection = fc.record({
      bytes: fc.nat(100),
      peer: fc.record({ isAuthenticated: fc.boolean(), id: fc.constantFrom('a', 'b', 'c') }),
    })
    fc.assert(
      fc.property(fc.array(connection), fc.nat(1_000), (connections, maxBytes) => {
        const chosen = selectToFreeMemory(connections, maxBytes)
        const kept = connections.filter((one) => !chosen.includes(one))
        const bytesOf = (some: UnreadConnection[]) =>
          some.reduce((sum, { bytes }) => sum + bytes, 0)
        expect(bytesOf(kept)).toBeLessThanOrEqual(maxBytes)
        expect(new Set(chosen).size).toBe(chosen.length)
        const last = chosen.at(-1)
        if (last !== undefined) expect(bytesOf(kept) + last.bytes).toBeGreaterThan(maxBytes)
        if (chosen.some(({ peer }) => peer.isAuthenticated)) {
          expect(bytesOf(kept.filter(({ peer }) => !peer.isAuthenticated))).toBe(0)
        }
      }),
    )
  })
})

describe('the connections that give their places to new ones', () => {
  const freeSlots = (...connections: Named[]) =>
    selectToFreeSlots(connections).map(({ name }) => name)

  it('are those of clients without a key before those of any account', () => {
    expect(
      freeSlots(
        account('acc_1', 9, 'first'),
        account('acc_1', 9, 'second'),
        address('10.0.0.1', 1),
      ),
    ).toEqual(['10.0.0.1 1', 'first'])
  })

  it('are those of the peer with the most of them, the earliest first, however many bytes wait', () => {
    expect(
      freeSlots(
        address('10.0.0.2', 99),
        address('10.0.0.1', 1),
        address('10.0.0.1', 2),
        address('10.0.0.2', 98),
        address('10.0.0.1', 3),
      ),
    ).toEqual(['10.0.0.1 1', '10.0.0.2 99', '10.0.0.1 2', '10.0.0.2 98', '10.0.0.1 3'])
  })

  it('are none that is the only one of an account', () => {
    expect(freeSlots(account('acc_1', 10), account('acc_2', 10))).toEqual([])
  })

  it('are none for which nothing waits', () => {
    expect(freeSlots(address('10.0.0.1', 0))).toEqual([])
  })
})
