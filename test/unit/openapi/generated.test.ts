import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generatedFiles } from '../../../scripts/openapi/generated.ts'

it.each(Object.entries(generatedFiles()))(
  'what is made for openapi/%s is what is committed; npm run openapi writes it',
  (name, text) => {
    expect(readFileSync(new URL(`../../../openapi/${name}`, import.meta.url), 'utf8')).toBe(text)
  },
)
