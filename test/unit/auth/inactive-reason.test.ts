import { describe, expect, it } from 'vitest'
import { inactiveReason } from '../../../src/auth/inactive-reason.ts'
import { HOUR_MS } from '../../../src/lib/durations.ts'
import { keyRecord } from '../../support/stores/key-record.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')

describe('inactiveReason', () => {
  it.each([
    ['a key without expiry', {}, undefined],
    ['a key one millisecond before its expiry', { expiresAt: NOW + 1 }, undefined],
    ['a key at its expiry', { expiresAt: NOW }, 'expired'],
    ['a key after its expiry', { expiresAt: NOW - 1 }, 'expired'],
    ['a revoked key', { revokedAt: NOW - 1 }, 'revoked'],
    ['a key revoked by a clock that is ahead', { revokedAt: NOW + HOUR_MS }, 'revoked'],
    ['a key both revoked and expired', { revokedAt: NOW, expiresAt: NOW }, 'revoked'],
  ])('returns the reason for %s', (_name, instants, reason) => {
    expect(inactiveReason(keyRecord(instants), NOW)).toBe(reason)
  })
})
