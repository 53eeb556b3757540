import { setFlagsFromString } from 'node:v8'
import type { Config } from '../config/config.ts'

/**
 * With OpenSearch, limits the heap of this process to 1.4 times what is in use after a collection of
 * all of it, beside the young generation. Without a limit it grows to about four times. Pages of
 * OpenSearch are freed without collections, so they cost no time. Rows of an embedded store are not.
 */
export function limitHeap({ opensearchUrls }: Pick<Config, 'opensearchUrls'>): void {
  // V8 reads it at each collection.
  if (opensearchUrls !== undefined) setFlagsFromString('--heap-growing-percent=40')
}
