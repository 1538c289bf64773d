from .combining import combine as combine
from .keys import make_key as make_key
from .learning import learn as learn
from .policy import Policy as Policy
from .scoring import score as score
from .session import Session as Session
