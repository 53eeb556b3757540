import { writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/openapi/document.ts'

// Writes openapi/openapi.json; a test fails while the committed file says something else.
const file = new URL('../openapi/openapi.json', import.meta.url)
writeFileSync(file, `${JSON.stringify(openApiDocument(), null, 2)}\n`)
