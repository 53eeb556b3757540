import { writeFileSync } from 'node:fs'
import { renderClientTypes } from './client-types/render.ts'

// Writes src/client/schema.ts from openapi/openapi.json; a test fails while the committed file says something else.
writeFileSync(new URL('../src/client/schema.ts', import.meta.url), await renderClientTypes())
