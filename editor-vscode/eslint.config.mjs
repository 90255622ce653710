// The strictest rules that are about mistakes; what code looks like is prettier's.
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: [".cache", "dist", "server", "node_modules"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    // The logic that is tested outside of an editor.
    files: ["src/core/**/*.ts"],
    rules: { "no-restricted-imports": ["error", "vscode"] },
  },
  { files: ["**/*.mjs"], ...tseslint.configs.disableTypeChecked },
);
