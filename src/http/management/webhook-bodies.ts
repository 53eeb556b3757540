import { Type } from '@sinclair/typebox'
import { payloadKinds } from '../../webhooks/endpoints/endpoint.ts'
import { eventTypes } from '../../webhooks/events/event-types.ts'
import { MAX_SECRET_OVERLAP_MS } from '../../webhooks/management/endpoint-actions.ts'
import { ALL_EVENTS, MAX_DESCRIPTION_LENGTH } from '../../webhooks/management/endpoint-settings.ts'
import { defineBody, defineRollBody, lineField } from './body.ts'

// The bodies of the routes for webhooks.

const literals = <T extends string>(values: readonly T[], expected: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { expected },
  )
const URL = Type.String({ expected: 'uma URL https pública, na porta 443 ou 8443' })
const EVENTS = 'uma lista de tipos de evento, ou ["*"] para todos'
const EVENT = `só tipos que existem (${eventTypes.join(', ')}), ou ["*"] para todos`

const settings = {
  events: Type.Optional(
    Type.Array(literals([ALL_EVENTS, ...eventTypes], EVENT), { minItems: 1, expected: EVENTS }),
  ),
  payload: Type.Optional(literals(payloadKinds, '"full" ou "thin"')),
  description: Type.Optional(
    Type.Union([lineField({ maxLength: MAX_DESCRIPTION_LENGTH }), Type.Null()], {
      expected: `um texto de até ${MAX_DESCRIPTION_LENGTH} caracteres em uma linha`,
    }),
  ),
}

const TEST = Type.Boolean({ expected: 'true para um endpoint do sandbox, ou false' })
export const CreateEndpoint = defineBody(
  Type.Object({ url: URL, ...settings, test: Type.Optional(TEST) }),
)
export const UpdateEndpoint = defineBody(Type.Object({ url: Type.Optional(URL), ...settings }))

export const RollSecret = defineRollBody(MAX_SECRET_OVERLAP_MS)

export const Replay = defineBody(
  Type.Object({
    since: Type.String({ format: 'instant', expected: 'um instante como 2026-11-23T12:00:00Z' }),
    failed: Type.Optional(
      Type.Boolean({ expected: 'true para repetir só o que falhou, ou false' }),
    ),
  }),
)
