import { type Behaviour, respond } from './scripted-server.ts'

/** The state of a document in a response. */
export const stateFields = (_seq_no: number, _primary_term = 3) => ({ _seq_no, _primary_term })

/** Responds to a search with these hits, and with the marker by its state; `null` without it. */
export const foundWithMarker = (marker: object | null, ...hits: object[]): Behaviour =>
  respond(200, {
    timed_out: false,
    _shards: { total: 1, successful: 1, failed: 0 },
    hits: { hits },
    aggregations: { marker: { state: { hits: { hits: marker === null ? [] : [marker] } } } },
  })
