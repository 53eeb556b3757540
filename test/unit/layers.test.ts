import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/**
 * The lines of layers in CONTRIBUTING.md: each imports from later ones; folders of one do not mix.
 */
const [, documented = ''] = /^```text\n(main\.ts .*?)^```/ms.exec(read('CONTRIBUTING.md')) ?? []
const lines = documented.replaceAll('\n  ', ' ').trim().split('\n')
const orders = lines.map((line) => line.split(' → ').map((layer) => layer.split(', ')))

/** Imports against the order, with their reason. */
const exceptions: Record<string, string> = {
  'demo/seed-demo.ts → services.ts': 'the type of the services that it fills',
  'http/plugins/deprecations.ts → openapi': 'its headers follow the changelog of the description',
  'http/routes/docs.ts → openapi': 'it serves the generated files',
  'observability/metrics/http.ts → http': 'the closed sets of its labels',
  'observability/metrics/services.ts → stores/opensearch': 'the types of its labels',
}

/**
 * `orders` of `orders/order.ts`, `stores/redis` of `stores/redis/stream.ts`, `app.ts` of itself.
 */
const folderOf = (file: string) => /^(?:stores\/[^/]+(?=\/)|[^/]+)/.exec(file)?.[0] ?? ''

function isAllowed(from: string, to: string): boolean {
  if (to.startsWith('stores/')) return from === 'services.ts'
  return orders.some((order) => {
    const layerOf = (folder: string) => order.findIndex((layer) => layer.includes(folder))
    return layerOf(from) >= 0 && layerOf(from) < layerOf(to)
  })
}

const importsAgainstOrder = globSync('**/*.{ts,js}', { cwd: join(root, 'src') }).flatMap((file) => {
  const paths = [...read(join('src', file)).matchAll(/\b(?:from|import)\s*\(?'(\.[^']+)'/g)]
  const folders = new Set(paths.map(([, path = '']) => folderOf(join(dirname(file), path))))
  const others = [...folders].filter((folder) => folder !== folderOf(file))
  return others
    .filter((folder) => !isAllowed(folderOf(file), folder))
    .map((folder) => `${file} → ${folder}`)
})

it('a file of src imports from later layers of CONTRIBUTING.md alone, and only services.ts imports a store', () => {
  const breaches = importsAgainstOrder.filter((found) => !(found in exceptions))
  expect(breaches, 'move what is imported to a later layer, or pass it as an argument').toEqual([])
})

it('every exception from the layers is still needed', () => {
  const unused = Object.keys(exceptions).filter((listed) => !importsAgainstOrder.includes(listed))
  expect(unused).toEqual([])
})

/** Without the call that an error message of the client shows. */
const withoutExample = (text: string) => text.replace('apiKey: process.env.ORDERS_API_KEY }', '')

it('only the files that CONTRIBUTING.md names read the environment', () => {
  const [rule = ''] =
    /^- Only the entry points read .*?(?=^- )/ms.exec(read('CONTRIBUTING.md')) ?? []
  const named = [...rule.matchAll(/`src\/([^`]+\.ts)`/g)].map(([, file = '']) => file)
  const readers = globSync('**/*.{ts,js}', { cwd: join(root, 'src') }).filter((file) =>
    /\bprocess\.env\b|\benv\b.*\} = process\b/.test(withoutExample(read(join('src', file)))),
  )
  expect(new Set(readers)).toEqual(new Set(named))
})
