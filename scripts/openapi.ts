import { writeFileSync } from 'node:fs'
import { generatedFiles } from './openapi/generated.ts'

// Writes the files that are generated from the code, openapi/guide, openapi/samples and
// openapi/changes.json. A test fails while a committed file differs.
for (const [name, text] of Object.entries(generatedFiles())) {
  writeFileSync(new URL(`../openapi/${name}`, import.meta.url), text)
}
