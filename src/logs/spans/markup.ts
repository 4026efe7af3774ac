const anyOf = (patterns: readonly RegExp[]): string => patterns.map(({ source }) => source).join('|')

/** Values in spans that are no text, each on its own: kinds of parts and objects, and ids of responses. */
export const spanMarkup = new RegExp(
  `^"?(?:${anyOf([
    /(?:server[_-])?tool[_-](?:call|use|result|error)(?:[_-](?:response|chunk))?/,
    /function_call(?:_output)?|(?:input|output|summary|reasoning)_text/,
    /chat\.completion(?:\.chunk)?|(?:chatcmpl|msg|resp|run|lc_run|fp)[-_][\w-]+/,
    /(?:Human|AI|System|Tool|Function|Chat)Message(?:Chunk)?|ChatGeneration(?:Chunk)?/,
    /application\/json|gen_ai\.[\w.]+/,
  ])})"?$`,
)

/** Attributes of networks, machines and models, which nobody wrote. */
const plumbing = new RegExp(
  `^(?:${anyOf([
    /(?:http|url|net|network|server|client|db|rpc|messaging|peer|tls|asgi|user_agent)\b/,
    /(?:process|telemetry|service|os|host|thread|code|span|otel|aws|k8s)\b/,
    /event(?:\.name)?$|exception\.(?:type|stacktrace)$|(?:operation|resource)\.name$|(?:session|user)\.id$/,
    /(?:input|output)\.mime_type$|openinference\.span/,
    /gen_ai\.(?:operation|output\.type|tool\.type|request|response|usage|provider|system$|conversation)/,
    /gen_ai\.(?:agent\.id|task|openai|token)/,
    /llm\.(?:model|provider|system$|token_count|invocation_parameters|headers|request\.model|response)/,
    /mlflow\.(?:trace|spanFunctionName|message\.format|llm\.model|experiment)/,
    /ai\.(?:model|settings|usage|request|operationId)/,
    /ai\.response\.(?:id|model|timestamp|providerMetadata|finishReason)/,
    /langfuse\.(?:internal|trace\.metadata|observation\.(?:model|metadata|usage|cost|level|type))/,
    /traceloop\.(?:association|entity\.path)|gcp\.vertex\.agent\.\w*_id$/,
  ])})`,
)

export const isPlumbing = (key: string): boolean => plumbing.test(key)
