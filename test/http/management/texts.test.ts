import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { buildManagementDocument } from '../../../src/openapi/management/document.ts'
import { useManagementApi } from '../../support/management/management-api.ts'
import { RECEIVER } from '../../support/management/webhook-endpoints.ts'

const test = useManagementApi()
const ajv = new Ajv2020({ strict: false })
const paths: Record<string, { post?: { requestBody?: object } }> = JSON.parse(
  JSON.stringify(buildManagementDocument().paths),
)

/** Whether the description allows this body of a POST. */
function isDescribed(resource: string, body: object): boolean {
  const { post } = paths[`/v1/accounts/{account}/${resource}`] ?? {}
  const { content } = Object(post?.requestBody)
  return ajv.validate(content['application/json'].schema, body)
}

const texts = [
  ['São João & Cia.', true],
  ['two\nlines', false],
  ['\u001b[2J', false],
  ['a\u0085b', false],
  ['\u0000', false],
] as const

describe.each([
  ['name', 100, 'keys', {}],
  ['subject', 100, 'sessions', { capabilities: ['keys'] }],
  ['description', 500, 'webhook-endpoints', { url: RECEIVER }],
])('the text %s', (param, maxLength, resource, others) => {
  const send = async (text: string) => {
    const body = { ...others, [param]: text }
    const { status, json } = await test.api.post(`/accounts/acc_1/${resource}`, body)
    return { isDescribed: isDescribed(resource, body), status, error: json.error }
  }

  it('counts code points, of which an emoji has one or more', async () => {
    for (const character of ['x', '👋']) {
      const accepted = await send(character.repeat(maxLength))
      expect(accepted).toMatchObject({ isDescribed: true, status: 201 })
      const refused = await send(character.repeat(maxLength + 1))
      expect(refused).toMatchObject({ isDescribed: false, status: 400, error: { param } })
    }
  })

  it.each(texts)('%j is accepted exactly where the description allows it', async (text, valid) => {
    const answer = await send(text)
    expect(answer).toMatchObject({ isDescribed: valid, status: valid ? 201 : 400 })
    if (valid) return
    expect(answer.error).toMatchObject({ code: 'invalid_request', param })
    expect(answer.error.message).toContain('em uma linha')
  })
})
