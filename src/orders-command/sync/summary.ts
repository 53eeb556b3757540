import type { SyncResult } from '../../client/client.ts'
import { count } from '../terminal/words.ts'

/** What a sync did, in a line: 120 pedidos lidos (14 novos ou alterados), 3 removidos; cópia em dia até … */
export function summary({
  received,
  changes,
  dropped,
  watermark,
}: Pick<SyncResult, 'received' | 'dropped' | 'watermark'> & { changes: number }): string {
  const read = count(received, 'pedido lido', 'pedidos lidos')
  const changed = count(changes, 'novo ou alterado', 'novos ou alterados')
  const removed = count(dropped, 'removido')
  const until = watermark === null ? 'cópia em dia' : `cópia em dia até ${watermark}`
  return `${read} (${changed}), ${removed}; ${until}`
}
