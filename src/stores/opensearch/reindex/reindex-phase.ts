import { indexVersion } from '../indices/index-names.ts'
import type { WriteTargets } from './change-write-targets.ts'

export type ReindexPhase =
  /** There is no reindex. */
  | { kind: 'single'; live: string }
  /** `next` receives writes and copies, and is not read yet. */
  | { kind: 'building'; live: string; next: string }
  /** The new index is live, and `old` still receives writes for a rollback. */
  | { kind: 'switched'; live: string; old: string }

/** Of two write targets, the first is live, and a reindex created the one of the later version. */
export function reindexPhase({ orders: [live, other] }: WriteTargets): ReindexPhase {
  if (other === undefined) return { kind: 'single', live }
  return indexVersion(other) < indexVersion(live)
    ? { kind: 'switched', live, old: other }
    : { kind: 'building', live, next: other }
}
