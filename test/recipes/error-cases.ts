import { DEMO_ACCOUNT } from '../../src/demo/accounts.ts'
import type { Fault, ServerResponseStub } from '../support/http/fault-server.ts'
import type { RecipeService } from './service.ts'

interface PermanentErrorCase {
  title: string
  /** The edge's response; without one, the service responds. */
  answer?: ServerResponseStub
  /** Replaces the valid one. */
  key?: string
  /** Part of the message to the user. */
  message: string
}

/** Permanent errors: of the service, with a message, and of the edge, without one. */
export const permanentErrors: readonly PermanentErrorCase[] = [
  {
    title: 'a 401 for an invalid key',
    key: `key_live_${'a'.repeat(38)}`,
    message: 'Authorization: Bearer',
  },
  {
    title: 'a 403 of the firewall',
    answer: { status: 403, body: '<html>Forbidden</html>' },
    message: 'https://',
  },
  {
    title: 'a 403 of a gateway with JSON of its own',
    answer: { status: 403, body: '{"message":"Forbidden"}' },
    message: 'https://',
  },
  {
    title: 'a 403 of a gateway with a text as its error',
    answer: { status: 403, body: '{"error":"Forbidden"}' },
    message: 'https://',
  },
  {
    title: 'a 400 for plain HTTP',
    answer: { status: 400, headers: { 'content-type': 'text/plain' }, body: 'use https' },
    message: 'https://',
  },
]

/** Temporary errors: a recipe retries and continues. */
export const transientErrors: readonly { title: string; fault: Fault }[] = [
  { title: 'a 502 without a body', fault: { status: 502 } },
  {
    title: 'a 503 whose Retry-After is a date',
    fault: { status: 503, headers: { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' } },
  },
  {
    title: 'a truncated response',
    fault: { status: 200, body: '{"object":"list","data":[' },
  },
  {
    // An odd number of bytes whose start is that of UTF-16.
    title: 'a page of a network portal that is in no encoding of JSON',
    fault: { status: 200, headers: { 'content-type': 'text/html' }, body: '\0<html>' },
  },
  { title: 'a connection that breaks within a response', fault: 'cut' },
  { title: 'a connection that is reset before a response', fault: 'reset' },
]

/**
 * A service that starts again. Its second wait is longer than the header says, so a client with a
 * doubling wait sends at most two requests within these seconds, and another one three.
 */
export const restart = {
  seconds: 2.5,
  answer: { status: 503, headers: { 'retry-after': '1' } },
  maxRejections: 2,
}

/** The message of the service for a cursor that it did not issue, after the status. */
export const REJECTED_CURSOR = /400 .*cursor.*request_id/

/** Keys that do not continue the copy of the demo account. */
export const foreignKeys = [
  {
    title: 'the key of another account',
    keyOf: ({ createKey }: RecipeService) => createKey('acc_other'),
  },
  {
    title: 'the test key of its account',
    keyOf: ({ createKey }: RecipeService) => createKey(DEMO_ACCOUNT, ['--test']),
  },
]
