import type { SyncState } from '../../../src/client/client.ts'

/** The state of a copy within its first full sync. */
export function syncState(pass: Partial<SyncState['pass']> = {}): SyncState {
  return {
    version: 1,
    source: { url: 'https://api.exemplo.com.br', key: 'abc' },
    since: null,
    watermark: null,
    walkedAt: null,
    pass: {
      number: 1,
      kind: 'all',
      updatedGte: null,
      cursor: null,
      reached: 'listing',
      ...pass,
    },
  }
}
