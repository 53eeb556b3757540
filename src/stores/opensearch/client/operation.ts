/** What the service asks of OpenSearch while it serves, one name for each kind of request. */
export type OpenSearchOperation =
  | 'search'
  | 'latest_write'
  | 'get_order'
  | 'get_key'
  | 'get_account'
  | 'update_key'
