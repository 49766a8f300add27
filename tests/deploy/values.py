"""Sets of values of the chart, each for something else that it can do."""

from __future__ import annotations

from typing import Any

EVERYTHING: dict[str, Any] = {
    "image": {"digest": f"sha256:{'a' * 64}", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "registry"}],
    "fullnameOverride": "workers",
    "temporal": {"tls": {"enabled": True, "secret": "temporal-tls", "ca": True}},
    "versioning": {"deploymentName": "memories", "buildId": "b2"},
    "secrets": {
        name: {"name": "durable-memory"} for name in ("temporalApiKey", "encryptionKeys", "payloadKeys", "telemetryKey")
    },
    "env": {
        "DURABLE_MEMORY_SUMMARY_SLOTS": 1_000_000,
        "DURABLE_MEMORY_RELOAD_INTERVAL": "off",
        "ASKS_FOR_QUOTES": 'a: "b" {{ c }} # d',
        "FLAG": True,
        "OPENAI_API_KEY": {"secretKeyRef": {"name": "models", "key": "openai"}},
        "POD": {"fieldRef": {"fieldPath": "metadata.name"}},
    },
    "memories": {"files": {"a.yaml": "resource: memory\nid: a\nmax_tokens: 600\n", "b.yml": "# nothing\n"}},
    "autoscaling": {"enabled": True},
    "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
    "networkPolicy": {
        "enabled": True,
        "ingressFrom": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
        "egress": [{"ports": [{"port": 6379, "protocol": "TCP"}]}],
    },
    "podDisruptionBudget": {"maxUnavailable": "50%"},
    "podAnnotations": {"a": "b"},
    "podLabels": {"team": "agents"},
    "priorityClassName": "high",
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"key": "spot", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "extraVolumes": [{"name": "audit", "emptyDir": {}}],
    "extraVolumeMounts": [{"name": "audit", "mountPath": "/var/log/memories"}],
}
SETS: dict[str, dict[str, Any]] = {
    "least": {},
    "everything": EVERYTHING,
    "foreign": {"memories": {"configMap": "support"}, "serviceAccount": {"create": False, "name": "ours"}},
    "closed": {"networkPolicy": {"enabled": True}, "podDisruptionBudget": {"enabled": False}},
}
