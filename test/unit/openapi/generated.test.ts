import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generatedFiles } from '../../../scripts/openapi/generated.ts'

it.each(Object.entries(generatedFiles()))(
  'the committed openapi/%s equals the generated one; npm run openapi updates it',
  (name, text) => {
    expect(readFileSync(new URL(`../../../openapi/${name}`, import.meta.url), 'utf8')).toBe(text)
  },
)
