import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { generatedFiles } from '../../../scripts/openapi/generated.ts'
import { recipeFiles } from '../../../src/http/routes/recipe-files.ts'

const files = generatedFiles()
const page = files['docs.html']
const { components, webhooks } = JSON.parse(files['openapi.json'])
const sectionOf = (id: string) => {
  const [, section = ''] = page.split(`<section id="${id}">`)
  return section.split('</section>')[0] ?? ''
}
const fieldsIn = (html: string) => [...html.matchAll(/<dt><code>(.+?)<\/code>/g)].map(([, n]) => n)

describe('the reference of the documentation page', () => {
  it.each(['Order', 'Customer', 'Payment', 'Item'])(
    'has the fields of %s in the order of the description',
    (name) => {
      const shown = fieldsIn(sectionOf(`esquema-${name.toLowerCase()}`))
      expect(shown).toEqual(Object.keys(components.schemas[name].properties))
    },
  )

  it('marks no field of an order as required, because all are always present', () => {
    expect(sectionOf('esquema-order')).not.toMatch(/obrigatório|required/)
    expect(sectionOf('esquema-metadata').match(/nem sempre presente/g)).toHaveLength(
      Object.keys(components.schemas.Metadata.properties).length,
    )
  })

  it('has a section for every event type', () => {
    for (const type of Object.keys(webhooks)) expect(sectionOf(`webhook-${type}`)).toContain(type)
  })

  it('escapes text and has neither inline scripts nor inline styles', () => {
    for (const html of [page, files['management/docs.html']]) {
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|<[^>]+\son\w+=/)
    }
    expect(page).toContain('&lt;API_KEY&gt;')
  })

  it('contains no id twice', () => {
    for (const html of [page, files['management/docs.html']]) {
      const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
      expect(new Set(ids).size).toBe(ids.length)
    }
  })
})

describe('the recipes', () => {
  const committed = execFileSync('git', ['ls-files', 'openapi/recipes'], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && !/\/\.\w+$/.test(path))
    .map((path) => path.replace('openapi/recipes/', ''))

  it('are all served', () => {
    expect(new Set(recipeFiles)).toEqual(new Set(committed))
  })

  it('can all be downloaded from the page', () => {
    const linked = [...page.matchAll(/<a href="\/docs\/recipes\/([^"]+)" download>/g)]
    expect(new Set(linked.map(([, path]) => path))).toEqual(new Set(recipeFiles))
  })
})

it.each([
  ['client', 'public-orders-client'],
  ['orders-cli', 'public-orders-cli'],
])('the page has a line to copy that installs src/%s, in its version', (folder, name) => {
  const manifest = new URL(`../../../src/${folder}/package.json`, import.meta.url)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  expect(page).toContain(`<code>npm install ./${name}-${version}.tgz`)
  expect(page).toContain(`<code>npm ci &amp;&amp; npm pack -w ${name}`)
})

it('calls the command as a local installation provides it', () => {
  expect(generatedFiles()['docs.md']).not.toMatch(/^orders (?:export|sync|get)/m)
})
