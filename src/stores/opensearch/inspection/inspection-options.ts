import type { OpenSearch } from '../client/client.ts'
import type { IndexNames } from '../indices/index-names.ts'

export interface OpenSearchInspectionOptions {
  client: OpenSearch
  names: IndexNames
  /** For each request, the response body included. */
  deadlineMs: number
  /** For requests of health checks; `deadlineMs` when absent. */
  healthDeadlineMs?: number
}
