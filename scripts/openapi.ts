import { writeFileSync } from 'node:fs'
import { generatedFiles } from './openapi/generated.ts'

// Writes what is made from the code, openapi/guide, openapi/samples and openapi/changes.json; a test fails while a
// committed file says something else.
for (const [name, text] of Object.entries(generatedFiles())) {
  writeFileSync(new URL(`../openapi/${name}`, import.meta.url), text)
}
