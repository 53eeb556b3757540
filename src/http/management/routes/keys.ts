import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type KeyRecord, scopes } from '../../../auth/key-store.ts'
import { DAY_MS, SECOND_MS } from '../../../lib/durations.ts'
import { MAX_NAME_LENGTH } from '../../../management/keys/key-grant.ts'
import { createdKeyJson, keyJson, lastUseOfKeys } from '../../../management/keys/key-json.ts'
import type { MadeKey, MakeKeyOptions } from '../../../management/keys/key-maker.ts'
import {
  type KeyManagement,
  MAX_KEY_OVERLAP_MS,
  MAX_OWN_KEYS,
} from '../../../management/keys/key-management.ts'
import type { ListCursorCodec } from '../../../management/list-cursor.ts'
import type { UsageStore } from '../../../management/usage/usage-store.ts'
import {
  defineBody,
  defineRollBody,
  lineField,
  NoFields,
  overlapMsOf,
  secondsField,
} from '../body.ts'
import { PageParams, parsePage, renderWholeList } from '../list-page.ts'
import { AccountItemParams, AccountParams } from '../path-params.ts'
import { REPLAYED } from '../plugins/idempotency.ts'
import { actorOf, authorize, principalOf } from '../principal.ts'

export interface KeysRoutesOptions {
  keys: KeyManagement
  usage: Pick<UsageStore, 'lastUsedAt'>
  cursors: ListCursorCodec
}

const capability = 'keys'
const SCOPES = { expected: 'uma lista vazia, ["orders:read"] ou ["orders:read_masked"]' }
const MAX_TTL_S = (10 * 366 * DAY_MS) / SECOND_MS

export const CreateKey = defineBody(
  Type.Object({
    name: Type.Optional(
      Type.Union([lineField({ maxLength: MAX_NAME_LENGTH }), Type.Null()], {
        expected: `um texto que identifica a chave, de até ${MAX_NAME_LENGTH} caracteres em uma linha`,
      }),
    ),
    scopes: Type.Optional(
      // Scopes exclude each other.
      Type.Union(
        scopes.map((scope) => Type.Array(Type.Literal(scope), { maxItems: 1 })),
        SCOPES,
      ),
    ),
    test: Type.Optional(Type.Boolean({ expected: 'true para uma chave do sandbox, ou false' })),
    expires_in_seconds: Type.Optional(secondsField(1, MAX_TTL_S)),
  }),
)
export const RollKey = defineRollBody(MAX_KEY_OVERLAP_MS)

/** `/v1/accounts/{account}/keys`. */
const keysRoutes: FastifyPluginAsyncTypebox<KeysRoutesOptions> = async (app, options) => {
  const { keys, usage, cursors } = options

  app.post('/keys', { schema: { params: AccountParams } }, async (request, reply) => {
    const { account: accountId } = request.params
    authorize(request, { accountId, capability })
    const body = CreateKey.parse(request.body)
    const seconds = body.expires_in_seconds
    const given = {
      accountId,
      isTest: body.test ?? false,
      scopes: body.scopes ?? ['orders:read'],
      name: body.name ?? null,
      expires: seconds === undefined ? null : { inMs: seconds * SECOND_MS },
    }
    const created = await keys.create(actorOf(request), given, makeOptions(request))
    return sendMade(reply, created)
  })

  const schema = { params: AccountParams, querystring: PageParams }
  app.get('/keys', { schema }, async (request) => {
    const { account: accountId } = request.params
    authorize(request, { accountId, capability })
    const page = parsePage(request.query, `keys ${accountId}`, cursors)
    const [records, usedAt] = await Promise.all([
      keys.list(accountId),
      lastUseOfKeys(usage, accountId),
    ])
    const toJson = (record: KeyRecord) => keyJson(record, usedAt.get(record.keyId))
    const positionOf = ({ createdAt, keyId }: KeyRecord) => [createdAt, keyId]
    return renderWholeList(records, page, toJson, positionOf)
  })

  app.post('/keys/:id/roll', { schema: { params: AccountItemParams } }, async (request, reply) => {
    const { account: accountId, id } = request.params
    authorize(request, { accountId, capability })
    const overlapMs = overlapMsOf(RollKey.parse(request.body))
    const options = makeOptions(request)
    const rolled = await keys.roll(actorOf(request), { id, accountId }, overlapMs, options)
    return sendMade(reply, rolled)
  })

  app.post('/keys/:id/revoke', { schema: { params: AccountItemParams } }, async (request) => {
    const { account: accountId, id } = request.params
    authorize(request, { accountId, capability })
    NoFields.parse(request.body)
    const revoked = await keys.revoke(actorOf(request), { id, accountId })
    // The key is revoked, so an error would be wrong: its record has a last use too.
    const usedAt = await lastUseOfKeys(usage, accountId).catch(() => null)
    return keyJson(revoked, usedAt?.get(id))
  })
}

function sendMade(reply: FastifyReply, made: MadeKey) {
  if (made.key === null) reply.headers(REPLAYED)
  return reply.code(201).send(createdKeyJson(made))
}

function makeOptions(request: FastifyRequest): MakeKeyOptions {
  const isOwner = principalOf(request).accountId !== null
  return {
    requestId: request.idempotencyClaim?.requestId,
    atMost: isOwner ? MAX_OWN_KEYS : undefined,
  }
}

export default keysRoutes
