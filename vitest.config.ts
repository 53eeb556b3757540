import { defineConfig } from 'vitest/config'

// The tiers, each with its rule of entry, are told in CONTRIBUTING.md.
const tier = (name: string, testTimeout: number) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: 60_000 },
})

export default defineConfig({
  test: {
    projects: [
      tier('unit', 20_000),
      tier('http', 20_000),
      tier('contract', 120_000),
      tier('commands', 60_000),
    ],
  },
})
