import { IndexLost } from '../stores/index-lost.ts'
import type { Stores } from '../stores/stores.ts'

/**
 * Ends a command before it begins where the index of the orders is lost. While the store does not answer nothing is
 * known: the command goes on and finds out, and a server answers 503 until then.
 * @throws IndexLost
 */
export async function assertIndexNotLost(
  stores: Pick<Stores, 'assertIndexNotLost'>,
): Promise<void> {
  await stores.assertIndexNotLost().catch((error: unknown) => {
    if (error instanceof IndexLost) throw error
  })
}
