import { describe, expect, it } from 'vitest'
import { generatedFiles } from '../../../scripts/openapi/generated.ts'
import { readGuide } from '../../../scripts/openapi/guide.ts'
import { readChangelog } from '../../../src/openapi/openapi-files.ts'

const files = generatedFiles()
const markdown = files['docs.md']
const { paths, webhooks, components } = JSON.parse(files['openapi.json'])
const operations = Object.values<{ get: Operation }>(paths).map(({ get }) => get)

interface Operation {
  parameters: { name: string }[]
  responses: Record<string, { headers: object }>
  'x-codeSamples': { source: string }[]
}
interface Webhook {
  description: string
  parameters: { name: string }[]
  responses: Record<string, { description: string }>
}
interface Schema {
  properties?: Record<string, Schema>
}

const fields = (schema: Schema, prefix = ''): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => [
    prefix + key,
    ...fields(inner, `${prefix}${key}.`),
  ])
const schemas = Object.entries<Schema>(components.schemas).map(([name, schema]) => ({
  name,
  fields: fields(schema),
}))

describe('the Markdown documentation', () => {
  it('contains every sentence of the guide', () => {
    const sentences = readGuide(readChangelog())
      .split('\n')
      .filter((line) => /^[^#]/.test(line))
    expect(sentences.filter((line) => !markdown.includes(line))).toEqual([])
  })

  it.each(Object.keys(paths))('describes %s', (path) => {
    expect(markdown).toContain(`\n## GET ${path}\n`)
  })

  it('contains every event type, its description, headers and responses', () => {
    for (const [type, { post }] of Object.entries<{ post: Webhook }>(webhooks)) {
      expect(markdown).toContain(`| \`${type}\` | ${post.description} |`)
      for (const { name } of post.parameters) expect(markdown).toContain(`| \`${name}\` |`)
      for (const { description } of Object.values(post.responses)) {
        expect(markdown).toContain(description)
      }
    }
  })

  it('contains every parameter, response, header and sample of every route', () => {
    for (const { parameters, responses, ...rest } of operations) {
      for (const { name } of parameters) expect(markdown).toContain(`| \`${name}\` |`)
      for (const [status, { headers }] of Object.entries(responses)) {
        expect(markdown).toContain(`**Resposta ${status}.**`)
        for (const header of Object.keys(headers)) expect(markdown).toContain(`| \`${header}\``)
      }
      for (const { source } of rest['x-codeSamples']) expect(markdown).toContain(source)
    }
  })

  it.each(schemas)('contains every field of $name', ({ name, fields: all }) => {
    const [, part = ''] = markdown.split(`\n### Esquema ${name}\n`)
    const [own = ''] = part.split('\n### ')
    expect(own).not.toBe('')
    for (const field of all) expect(own).toContain(`| \`${field}\``)
  })
})

describe('llms.txt', () => {
  const text = files['llms.txt']

  it('starts with the title and a summary', () => {
    expect(text).toMatch(/^# .+\n\n> .+\n/)
  })

  it('links to every other document', () => {
    const links = [...text.matchAll(/^- \[.+\]\((\S+)\): /gm)].map(([, link]) => link)
    expect(links).toEqual(['/docs.md', '/openapi.json', '/docs', '/docs/changes.atom'])
  })
})
