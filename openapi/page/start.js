import { clientTexts } from './client-texts.js'
import { texts } from './texts.js'

const response = await fetch('/openapi.json')
const description = await response.json()

// The test client sends only required parameters by default: examples of optional ones are
// disabled.
const operations = Object.values(description.paths).flatMap((path) => Object.values(path))
for (const { parameters } of operations) {
  for (const parameter of parameters) {
    if (parameter.required || parameter.example === undefined) continue
    parameter.examples = { exemplo: { value: parameter.example, 'x-disabled': true } }
    delete parameter.example
  }
}

globalThis.Scalar.createApiReference('#docs', {
  content: description,
  slug: 'api',
  // The element id has the slug as prefix, so `#limites` opens the same chapter as in the Markdown.
  generateHeadingSlug: ({ slug }) => `api/${slug}`,
  localization: { locale: 'pt-BR', translations: { ...texts, apiClient: clientTexts } },
  modelsSectionLabel: 'Esquemas',
  authentication: {
    preferredSecurityScheme: Object.keys(description.components.securitySchemes)[0],
  },
  // Only the samples of the description are shown.
  hiddenClients: true,
  // The guide links to the original file.
  documentDownloadType: 'none',
  // The page sends requests to this service only and stores nothing.
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  externalUrls: { dashboardUrl: '', registryUrl: '', proxyUrl: '', apiBaseUrl: '' },
})
