import { writeFileSync } from 'node:fs'
import { renderClientTypes } from './client-types/render.ts'

// Writes src/client/schema.ts from openapi/openapi.json. A test fails while the committed file
// differs.
writeFileSync(new URL('../src/client/schema.ts', import.meta.url), await renderClientTypes())
