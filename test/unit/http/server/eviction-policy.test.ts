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

describe('selectToFreeMemory', () => {
  it('selects no connection below the memory limit', () => {
    expect(freeMemory([account('acc_1', 60), address('10.0.0.1', 40)], 100)).toEqual([])
  })

  it('selects unauthenticated clients first, however small and new', () => {
    const connections = [account('acc_1', 90), address('10.0.0.1', 5), address('10.0.0.1', 7)]
    expect(freeMemory(connections, 95)).toEqual(['10.0.0.1 7'])
    expect(freeMemory(connections, 90)).toEqual(['10.0.0.1 7', '10.0.0.1 5'])
    expect(freeMemory(connections, 89)).toEqual(['10.0.0.1 7', '10.0.0.1 5', 'acc_1 90'])
  })

  it('selects the peer with the largest total, and its largest response first', () => {
    const connections = [
      account('acc_1', 50),
      account('acc_2', 30),
      account('acc_2', 20),
      account('acc_2', 25),
    ]
    expect(freeMemory(connections, 124)).toEqual(['acc_2 30'])
    expect(freeMemory(connections, 94)).toEqual(['acc_2 30', 'acc_1 50'])
  })

  it('selects a flooding address before another address', () => {
    const flood = [1, 2, 3].map((n) => address('10.0.0.1', 10, `flood ${n}`))
    expect(freeMemory([address('10.0.0.2', 12), ...flood], 22)).toEqual(['flood 1', 'flood 2'])
  })

  it('selects the earlier of equal connections', () => {
    expect(freeMemory([account('acc_1', 10, 'first'), account('acc_1', 10, 'second')], 19)).toEqual(
      ['first'],
    )
  })

  it('selectToFreeMemory never selects a connection without unread bytes', () => {
    expect(freeMemory([address('10.0.0.1', 0), account('acc_1', 10)], 5)).toEqual(['acc_1 10'])
  })

  it('selects no account while an unauthenticated client has unread bytes', () => {
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

describe('selectToFreeSlots', () => {
  const freeSlots = (...connections: Named[]) =>
    selectToFreeSlots(connections).map(({ name }) => name)

  it('selects unauthenticated clients before accounts', () => {
    expect(
      freeSlots(
        account('acc_1', 9, 'first'),
        account('acc_1', 9, 'second'),
        address('10.0.0.1', 1),
      ),
    ).toEqual(['10.0.0.1 1', 'first'])
  })

  it('selects the peer with the most connections, the earliest first, whatever their size', () => {
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

  it('selectToFreeSlots never selects the only connection of an account', () => {
    expect(freeSlots(account('acc_1', 10), account('acc_2', 10))).toEqual([])
  })

  it('selectToFreeSlots never selects a connection without unread bytes', () => {
    expect(freeSlots(address('10.0.0.1', 0))).toEqual([])
  })
})
